// Occupancy: which of the limits of a compute unit counts.
// SPDX-License-Identifier: Apache-2.0
#include "core/occupancy.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace kiln {
namespace {

DeviceInfo hopper() {
  DeviceInfo device;
  device.warp_size = 32;
  device.max_threads_per_unit = 2048;
  device.shared_bytes_per_unit = 233472;
  device.registers_per_block = 65536;
  return device;
}

TEST(Occupancy, EndsAtWhatRunsOutFirst) {
  const DeviceInfo device = hopper();
  EXPECT_EQ(resident_blocks({.threads = 32}, device), 32) << "blocks";
  EXPECT_EQ(resident_blocks({.threads = 256}, device), 8) << "threads";
  EXPECT_EQ(resident_blocks({.threads = 48}, device), 32) << "whole warps, 64 threads each";
  EXPECT_EQ(resident_blocks({.threads = 1000}, device), 2);
  EXPECT_EQ(resident_blocks({.threads = 256, .shared_bytes = 49152}, device), 4);
  EXPECT_EQ(resident_blocks({.threads = 256, .shared_bytes = 0, .registers = 128}, device), 2);
  EXPECT_EQ(resident_blocks({.threads = 128, .shared_bytes = 12288, .registers = 161}, device), 3)
      << "168 registers a thread, which warps get by eights";
}

TEST(Occupancy, OfAmdGpusFollowsTheirRegisterFiles) {
  const auto blocks_of = [](const char* architecture, std::int64_t threads,
                            std::int64_t registers) {
    return resident_blocks({.threads = threads, .registers = registers},
                           device_for_architecture("hip", architecture));
  };
  EXPECT_EQ(blocks_of("gfx90a", 256, 64), 8) << "8 wavefronts of 64 a SIMD";
  EXPECT_EQ(blocks_of("gfx90a", 256, 65), 7) << "72 registers each of 512";
  EXPECT_EQ(blocks_of("gfx90a", 256, 512), 1);
  EXPECT_EQ(blocks_of("gfx906", 256, 128), 2) << "256 registers a SIMD";
  EXPECT_EQ(blocks_of("gfx906", 256, 24), 10);
  EXPECT_EQ(blocks_of("gfx1030", 256, 128), 4) << "1024 registers a SIMD, wavefronts of 32";
  EXPECT_EQ(blocks_of("gfx1100", 256, 128), 5) << "144 registers each of 1536";
  EXPECT_EQ(blocks_of("gfx942", 256, std::numeric_limits<std::int64_t>::max()), 1);
  DeviceInfo wide = device_for_architecture("hip", "gfx1030");
  wide.warp_size = 64;
  EXPECT_EQ(resident_blocks({.threads = 256, .registers = 128}, wide), 4) << "half of each";
}

TEST(Occupancy, IsOneAtLeast) {
  const DeviceInfo device = hopper();
  EXPECT_EQ(resident_blocks({.threads = 4096}, device), 1);
  EXPECT_EQ(resident_blocks({.threads = 1024, .shared_bytes = 1 << 20, .registers = 255}, device),
            1);
  DeviceInfo blank;
  blank.warp_size = 0;
  EXPECT_EQ(resident_blocks({.threads = 0}, blank), 32);
}

// A database that a stranger wrote may say anything of its device.
TEST(Occupancy, OfADeviceThatCannotBeIsAnAnswer) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const BlockNeeds block = {.threads = 1 << 20, .shared_bytes = 1, .registers = 1 << 30};
  for (const std::int64_t said :
       {kLeast, std::int64_t{-1}, std::int64_t{0}, kMost / 2 + 1, kMost}) {
    DeviceInfo device = hopper();
    device.warp_size = said;
    EXPECT_EQ(resident_blocks(block, device), 1) << said;
    device.max_threads_per_unit = device.shared_bytes_per_unit = device.registers_per_block = said;
    EXPECT_GE(resident_blocks(block, device), 1) << said;
  }
}

}  // namespace
}  // namespace kiln
