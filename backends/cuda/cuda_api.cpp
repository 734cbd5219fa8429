// Loading the CUDA driver.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda_api.hpp"

#include <fmt/format.h>

#include "backends/driver_errors.hpp"
#include "core/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

CudaApi bind_cuda() {
  const DynamicLibrary library(
      "CUDA driver", library_candidates("KILN_CUDA_LIBRARY", {"libcuda.so.1", "libcuda.so"}));
  CudaApi api;
#define KILN_BIND_CALL(member, symbol, signature) library.bind(api.member, #symbol);
  KILN_CUDA_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
#define KILN_BIND_CALL(member, symbol) library.bind(api.stream.member, #symbol);
  KILN_CUDA_STREAM_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
#define KILN_BIND_CALL(member, symbol) library.bind_optional(api.stream.member, #symbol);
  KILN_CUDA_GRAPH_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
#define KILN_BIND_CALL(member, symbol, signature) library.bind_optional(api.member, #symbol);
  KILN_CUDA_MEMORY_CALLS(KILN_BIND_CALL)
#undef KILN_BIND_CALL
  library.bind_optional(api.launch_kernel_ex, "cuLaunchKernelEx");
  library.bind_optional(api.function_get_parameter, "cuFuncGetParamInfo");
  library.bind_optional(api.tensor_map_encode, "cuTensorMapEncodeTiled");
  library.bind_optional(api.tensor_map_encode_im2col, "cuTensorMapEncodeIm2col");
  return api;
}

/// "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected"
std::string error_text(const CudaApi& api, int code) {
  const char* name = nullptr;
  const char* text = nullptr;
  api.get_error_name(code, &name);
  api.get_error_string(code, &text);
  return fmt::format("{} ({}): {}", name != nullptr ? name : "error", code,
                     text != nullptr ? text : "unknown to the driver");
}

CudaApi load_cuda() {
  const CudaApi api = bind_cuda();
  const int code = api.init(0);
  if (code != 0) throw DeviceError("unavailable: cuInit: " + error_text(api, code));
  return api;
}

}  // namespace

const CudaApi& cuda() {
  static CudaApi api = load_cuda();  // not const: bench/launch/driver_calls.cpp counts calls in it
  return api;
}

Failure cuda_failure(int code, std::string_view call, Outcome otherwise) {
  const ErrorMeaning meaning = meaning_of_driver_code(code, otherwise);
  return {meaning.outcome, fmt::format("{}: {}", call, error_text(cuda(), code)), meaning.sticky};
}

}  // namespace kiln
