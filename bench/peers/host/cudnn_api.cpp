// Loads cuDNN 9, resolves its functions, and throws on a failed status.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/cudnn_api.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "core/dynamic_library.hpp"

namespace kiln::peers {
namespace {

DnnApi load_cudnn() {
  const DynamicLibrary library("cuDNN",
                               library_candidates("KILN_CUDNN_LIBRARY", {"libcudnn.so.9"}));
  DnnApi api;
#define KILN_BIND_CALL(member, symbol, signature) library.bind(api.member, #symbol);
  KILN_CUDNN_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
  library.bind(api.version, "cudnnGetVersion");
  library.bind(api.status_name, "cudnnGetErrorString");
  return api;
}

}  // namespace

const DnnApi& cudnn() {
  static const DnnApi api = load_cudnn();
  return api;
}

void check_dnn(const DnnApi& api, int status, const char* call) {
  if (status == 0) return;
  throw std::runtime_error(fmt::format("{}: {}", call, api.status_name(status)));
}

std::string version_text(const DnnApi& api) {
  const std::size_t version = api.version();  // 91900
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace kiln::peers
