// Encodes a tensor map with the driver, whose lists have the innermost dimension first.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/tensor_map.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "backends/cuda/cuda_api.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxDimensions = 5;

CudaTensorType type_of(DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8:
    case DType::e4m3:
    case DType::e5m2:
      return CudaTensorType::u8;  // copies look at no byte's meaning
    case DType::i16:
    case DType::u16:
      return CudaTensorType::u16;
    case DType::i32:
      return CudaTensorType::i32;
    case DType::u32:
      return CudaTensorType::u32;
    case DType::i64:
      return CudaTensorType::i64;
    case DType::u64:
      return CudaTensorType::u64;
    case DType::f16:
      return CudaTensorType::f16;
    case DType::bf16:
      return CudaTensorType::bf16;
    case DType::f32:
      return CudaTensorType::f32;
    case DType::f64:
      break;
  }
  return CudaTensorType::f64;
}

/// CUtensorMapSwizzle and CUtensorMapL2promotion count up with the power of two: 0 for none, 1 for
/// `first` bytes, 2 for twice as many.
int step_of(std::int64_t bytes, std::int64_t first) {
  int step = 0;
  for (std::int64_t at = first; at <= bytes; at *= 2) ++step;
  return step;
}

}  // namespace

Result<TensorMapBytes> encode_tensor_map(const TensorMapPlan& plan, DeviceAddress address) {
  if (cuda().tensor_map_encode == nullptr || cuda().tensor_map_encode_im2col == nullptr) {
    return Failure{Outcome::launch_error,
                   "this CUDA driver has no tensor maps (cuTensorMapEncodeTiled, CUDA 12.0)"};
  }
  const std::size_t rank = plan.shape.size();
  std::array<unsigned long long, kMaxDimensions> extents{};
  std::array<unsigned long long, kMaxDimensions> strides{};
  std::array<unsigned, kMaxDimensions> box{};
  std::array<unsigned, kMaxDimensions> element_strides{};
  const auto narrow = [](std::int64_t extent) { return static_cast<unsigned>(extent); };
  std::copy(plan.shape.rbegin(), plan.shape.rend(), extents.begin());
  std::copy(plan.stride_bytes.rbegin(), plan.stride_bytes.rend(), strides.begin());
  std::transform(plan.box.rbegin(), plan.box.rend(), box.begin(), narrow);
  std::transform(plan.element_strides.rbegin(), plan.element_strides.rend(),
                 element_strides.begin(), narrow);
  std::array<int, kMaxDimensions> lower{};
  std::array<int, kMaxDimensions> upper{};
  const auto corner = [](std::int64_t at) { return static_cast<int>(at); };
  std::transform(plan.lower.rbegin(), plan.lower.rend(), lower.begin(), corner);
  std::transform(plan.upper.rbegin(), plan.upper.rend(), upper.begin(), corner);
  const auto type = static_cast<int>(plan.to_tf32 ? CudaTensorType::tf32 : type_of(plan.dtype));
  void* const first =
      reinterpret_cast<void*>(address + static_cast<DeviceAddress>(plan.offset_bytes));
  const int swizzle = step_of(plan.swizzle_bytes, 32);
  const int promotion = step_of(plan.promotion_bytes, 64);
  const bool is_im2col = !plan.lower.empty();
  TensorMapBytes map;
  const int code =
      is_im2col ? cuda().tensor_map_encode_im2col(
                      map.bytes.data(), type, static_cast<unsigned>(rank), first, extents.data(),
                      strides.data(), lower.data(), upper.data(), /*channels=*/box[0],
                      /*positions=*/box[1], element_strides.data(), /*interleave=*/0, swizzle,
                      promotion, plan.fill_nan ? 1 : 0)
                : cuda().tensor_map_encode(map.bytes.data(), type, static_cast<unsigned>(rank),
                                           first, extents.data(), strides.data(), box.data(),
                                           element_strides.data(), /*interleave=*/0, swizzle,
                                           promotion, plan.fill_nan ? 1 : 0);
  if (code != 0) {
    return cuda_failure(code, fmt::format("cuTensorMapEncode{} of '{}'",
                                          is_im2col ? "Im2col" : "Tiled", plan.name));
  }
  return map;
}

}  // namespace kiln
