// Linked into every test program: gives each process a kernel cache of its own.
//
// PoCL keeps compiled kernels in one folder and reads what another process has half written there:
// two that compile the same kernel at once can kill each other (an assertion in
// pocl_binary_get_kernels_metadata, or a crash in half a kernel). Must be set before OpenCL is
// loaded, and children inherit it.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace {

class PrivatePoclCache {
 public:
  PrivatePoclCache() : owner_(::getpid()) {
    std::error_code ignored;
    folder_ = (std::filesystem::temp_directory_path(ignored) / "kiln-test-pocl-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) folder_.clear();
    if (!folder_.empty()) ::setenv("POCL_CACHE_DIR", folder_.c_str(), /*replace=*/1);
  }
  ~PrivatePoclCache() {
    if (folder_.empty() || ::getpid() != owner_) return;  // a forked child leaves it to its parent
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  PrivatePoclCache(const PrivatePoclCache&) = delete;
  PrivatePoclCache& operator=(const PrivatePoclCache&) = delete;

 private:
  pid_t owner_;
  std::string folder_;
};

const PrivatePoclCache kPrivatePoclCache;

}  // namespace
