// check(): CUDA runtime calls that must succeed; a failure ends the program with the call's text,
// place and reason.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace kiln::peers {

inline void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                           cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

}  // namespace kiln::peers

#define KILN_CUDA(call) ::kiln::peers::check((call), #call, __FILE__, __LINE__)
