// The few driver calls that the example makes, found at run time, so that it builds without the
// CUDA toolkit. An application that has the toolkit includes cuda.h or cuda_runtime.h instead: a
// cudaStream_t is a CUstream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <stdexcept>
#include <string>

using CUresult = int;
using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUdeviceptr = unsigned long long;

/// libcuda.so.1 with every call checked.
class CudaDriver {
 public:
  /// Throws std::runtime_error where there is no driver.
  CudaDriver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
      throw std::runtime_error("there is no CUDA driver (libcuda.so.1)");
    }
  }

  template <typename... Parameters>
  void call(const char* name, Parameters... parameters) const {
    const auto function = reinterpret_cast<CUresult (*)(Parameters...)>(dlsym(library_, name));
    const CUresult result = function == nullptr ? 500 : function(parameters...);
    if (result != 0) {
      throw std::runtime_error(std::string(name) + " failed: " + std::to_string(result));
    }
  }

 private:
  void* library_;
};
