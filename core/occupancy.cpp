// SPDX-License-Identifier: Apache-2.0
#include "core/occupancy.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace kiln {
namespace {

constexpr std::int64_t kMostBlocks = 32;  // as every GPU of today has them, give or take a half
constexpr std::int64_t kRegisterStep = 256;
constexpr std::int64_t kMostLanes = 1024;  // of a warp; more stands in damaged rows only

std::int64_t rounded_up(std::int64_t number, std::int64_t step) {
  return (number + step - 1) / step * step;
}

// Vector registers of AMD's GPUs, of a lane and SIMD: there are so many, they are given to a
// wavefront in steps of `step`, and no more than `waves` wavefronts share them. Source: LLVM, "User
// Guide for AMDGPU Backend", and AMD's ISA documents.
struct RegisterFile {
  std::string_view architecture;  // the first that begins so counts
  std::int64_t registers;
  std::int64_t step;
  std::int64_t waves;
  std::int64_t wavefront;  // that registers and step are for; a wavefront of 64 has half of 32's
};

constexpr RegisterFile kRegisterFiles[] = {
    {"gfx90a", 512, 8, 8, 64},     {"gfx94", 512, 8, 8, 64},      {"gfx95", 512, 8, 8, 64},
    {"gfx9", 256, 4, 10, 64},      {"gfx101", 1024, 8, 20, 32},   {"gfx10", 1024, 16, 16, 32},
    {"gfx1100", 1536, 24, 16, 32}, {"gfx1101", 1536, 24, 16, 32}, {"gfx1151", 1536, 24, 16, 32},
    {"gfx12", 1536, 24, 16, 32},   {"gfx11", 1024, 16, 16, 32},
};
constexpr std::int64_t kMostRegisters = 1 << 16;  // more stands in damaged rows only
constexpr std::int64_t kSimds =
    4;  // of a compute unit of CDNA, and of RDNA's pairs, which HIP counts

/// Wavefronts of so many registers that are resident in a compute unit of an AMD GPU; none where
/// the architecture is not AMD's.
std::optional<std::int64_t> resident_waves(std::int64_t registers, const DeviceInfo& device) {
  for (const RegisterFile& file : kRegisterFiles) {
    if (!device.architecture.starts_with(file.architecture)) continue;
    const std::int64_t share = device.warp_size > file.wavefront ? 2 : 1;
    const std::int64_t taken = rounded_up(std::min(registers, kMostRegisters), file.step / share);
    return kSimds * std::min(file.waves, file.registers / share / taken);
  }
  return std::nullopt;
}

std::int64_t blocks_by_registers(std::int64_t threads, std::int64_t registers, std::int64_t warp,
                                 const DeviceInfo& device) {
  const std::int64_t warps = threads / warp;
  if (const auto waves = resident_waves(registers, device)) return *waves / warps;
  return device.registers_per_block / (warps * rounded_up(registers * warp, kRegisterStep));
}

}  // namespace

std::int64_t resident_blocks(const BlockNeeds& block, const DeviceInfo& device) {
  const std::int64_t warp = std::clamp<std::int64_t>(device.warp_size, 1, kMostLanes);
  const std::int64_t threads = std::max(warp, rounded_up(block.threads, warp));
  std::int64_t blocks = std::min(kMostBlocks, device.max_threads_per_unit / threads);
  if (block.shared_bytes > 0) {
    blocks = std::min(blocks, device.shared_bytes_per_unit / block.shared_bytes);
  }
  if (block.registers > 0)
    blocks = std::min(blocks, blocks_by_registers(threads, block.registers, warp, device));
  return std::max<std::int64_t>(1, blocks);
}

}  // namespace kiln
