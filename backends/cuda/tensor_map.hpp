// Tensor maps: from a plan to the 128 bytes that a kernel takes by value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/backend.hpp"
#include "backends/stream_api.hpp"

namespace kiln {

/// Numbers of CUtensorMapDataType.
enum class CudaTensorType : int {
  u8 = 0,
  u16 = 1,
  u32 = 2,
  i32 = 3,
  u64 = 4,
  i64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
  tf32 = 11,
};

/// The map of `plan` for a buffer that begins at `address`, which must be a multiple of 16. A
/// Failure where the driver has no tensor maps or refuses this one. Any thread.
[[nodiscard]] Result<TensorMapBytes> encode_tensor_map(const TensorMapPlan& plan,
                                                       DeviceAddress address);

}  // namespace kiln
