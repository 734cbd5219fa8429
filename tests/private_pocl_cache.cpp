// Linked into every test program: gives each process a kernel cache of its own.
//
// PoCL keeps compiled kernels in one folder and reads what another process has half written there:
// two that compile the same kernel at once can kill each other (an assertion in
// pocl_binary_get_kernels_metadata, or a crash in half a kernel). Must be set before OpenCL is
// loaded.
//
// A test program that is run by another puts its folder into that one's, which is removed with all
// that it holds: a process that is killed removes nothing. A worker keeps the folder that its
// supervisor chose.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "kiln-test-pocl-";
constexpr std::string_view kWorkerName = "kiln-worker-";  // of tuner/workers/worker_host.cpp

class PrivatePoclCache {
 public:
  PrivatePoclCache() : owner_(::getpid()) {
    const char* inherited = std::getenv("POCL_CACHE_DIR");
    const std::string_view outer = inherited != nullptr ? inherited : "";
    if (outer.find(kWorkerName) != std::string_view::npos) return;
    std::error_code ignored;
    const bool is_ours = outer.find(kName) != std::string_view::npos;
    const fs::path parent = is_ours ? fs::path(outer) : fs::temp_directory_path(ignored);
    folder_ = (parent / kName).string() + "XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) folder_.clear();
    if (!folder_.empty()) ::setenv("POCL_CACHE_DIR", folder_.c_str(), /*replace=*/1);
  }
  ~PrivatePoclCache() {
    if (folder_.empty() || ::getpid() != owner_) return;  // a forked child leaves it to its parent
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  PrivatePoclCache(const PrivatePoclCache&) = delete;
  PrivatePoclCache& operator=(const PrivatePoclCache&) = delete;

 private:
  pid_t owner_;
  std::string folder_;
};

const PrivatePoclCache kPrivatePoclCache;

}  // namespace
