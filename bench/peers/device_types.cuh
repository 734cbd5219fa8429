// Kiln's element types as C++ types on the device, and their values as doubles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/dtype.hpp"

namespace kiln::peers {

template <typename T>
constexpr bool is_small_float =
    std::is_same_v<T, __nv_fp8_e4m3> || std::is_same_v<T, __nv_fp8_e5m2>;

template <typename T>
__device__ double to_double(T value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __bfloat162float(value);
  } else if constexpr (is_small_float<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

/// Calls `f` with a null pointer of the C++ type of `dtype`.
template <typename F>
void with_type(DType dtype, const F& f) {
  const std::string_view name = name_of(dtype);
  if (name == "i8") return f(static_cast<std::int8_t*>(nullptr));
  if (name == "u8") return f(static_cast<std::uint8_t*>(nullptr));
  if (name == "i32") return f(static_cast<std::int32_t*>(nullptr));
  if (name == "u32") return f(static_cast<std::uint32_t*>(nullptr));
  if (name == "i64") return f(static_cast<long long*>(nullptr));
  if (name == "u64") return f(static_cast<unsigned long long*>(nullptr));
  if (name == "e4m3") return f(static_cast<__nv_fp8_e4m3*>(nullptr));
  if (name == "e5m2") return f(static_cast<__nv_fp8_e5m2*>(nullptr));
  if (name == "f16") return f(static_cast<__half*>(nullptr));
  if (name == "bf16") return f(static_cast<__nv_bfloat16*>(nullptr));
  if (name == "f32") return f(static_cast<float*>(nullptr));
  if (name == "f64") return f(static_cast<double*>(nullptr));
  throw std::logic_error("no type on the device for " + std::string(name));
}

}  // namespace kiln::peers
