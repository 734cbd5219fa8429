// LaunchLimits: what a device allows of one launch. A launch plan is held against them, and a
// search cuts by them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/device.hpp"

namespace kiln {

/// Limits of the extents of a grid or a block, or of dynamic shared memory (the first extent).
struct LaunchLimits {
  std::int64_t low = 1;
  std::array<std::int64_t, 3> high = {};
  std::int64_t product = 0;  ///< of all extents; 0: not limited
};

[[nodiscard]] inline LaunchLimits grid_limits(const DeviceInfo& device) {
  return {1, device.max_grid, 0};
}
[[nodiscard]] inline LaunchLimits block_limits(const DeviceInfo& device) {
  return {1, device.max_block, device.max_threads_per_block};
}
/// Bytes.
[[nodiscard]] inline LaunchLimits shared_limits(const DeviceInfo& device) {
  return {0, {device.max_shared_bytes_optin, 0, 0}, 0};
}
/// Grid extent, block extent and their product along dimension `d`.
[[nodiscard]] inline LaunchLimits thread_limits(const DeviceInfo& device, std::size_t d) {
  return {1, {device.max_grid[d], device.max_block[d], 0}, max_threads_per_dimension(device)};
}

}  // namespace kiln
