// SPDX-License-Identifier: Apache-2.0
#include "core/occupancy.hpp"

#include <algorithm>

namespace kiln {
namespace {

constexpr std::int64_t kMostBlocks = 32;  // as every GPU of today has them, give or take a half
constexpr std::int64_t kRegisterStep = 256;
constexpr std::int64_t kMostLanes = 1024;  // of a warp; more stands in damaged rows only

std::int64_t rounded_up(std::int64_t number, std::int64_t step) {
  return (number + step - 1) / step * step;
}

}  // namespace

std::int64_t resident_blocks(const BlockNeeds& block, const DeviceInfo& device) {
  const std::int64_t warp = std::clamp<std::int64_t>(device.warp_size, 1, kMostLanes);
  const std::int64_t threads = std::max(warp, rounded_up(block.threads, warp));
  std::int64_t blocks = std::min(kMostBlocks, device.max_threads_per_unit / threads);
  if (block.shared_bytes > 0) {
    blocks = std::min(blocks, device.shared_bytes_per_unit / block.shared_bytes);
  }
  if (block.registers > 0) {
    const std::int64_t registers =
        threads / warp * rounded_up(block.registers * warp, kRegisterStep);
    blocks = std::min(blocks, device.registers_per_block / registers);
  }
  return std::max<std::int64_t>(1, blocks);
}

}  // namespace kiln
