// Loads cublasLt, resolves its functions, and throws on a failed status.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/cublaslt_api.hpp"

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "core/dynamic_library.hpp"

namespace kiln::peers {
namespace {

/// cublasLt 12 and 13 share the numbers and structures that are declared here.
std::vector<std::string> names() {
  std::vector<std::string> folders = {""};
  if (const char* root = std::getenv("CUDA_PATH")) folders.push_back(std::string(root) + "/lib64/");
  folders.emplace_back("/usr/local/cuda/lib64/");
  std::vector<std::string> names;
  for (const char* version : {"13", "12"}) {
    for (const std::string& folder : folders) names.push_back(folder + "libcublasLt.so." + version);
  }
  return names;
}

LtApi load() {
  const DynamicLibrary library("cublasLt", library_candidates("KILN_CUBLASLT_LIBRARY", names()));
  LtApi api;
#define KILN_BIND_CALL(member, symbol, signature) library.bind(api.member, #symbol);
  KILN_CUBLASLT_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
  library.bind(api.version, "cublasLtGetVersion");
  library.bind(api.status_name, "cublasLtGetStatusName");
  return api;
}

}  // namespace

const LtApi& cublaslt() {
  static const LtApi api = load();
  return api;
}

void check_lt(const LtApi& api, int status, const char* call) {
  if (status == static_cast<int>(LtStatus::success)) return;
  throw std::runtime_error(fmt::format("{}: {}", call, api.status_name(status)));
}

std::string version_text(const LtApi& api) {
  const std::size_t version = api.version();  // 130002, and 120804 for 12.8.4
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace kiln::peers
