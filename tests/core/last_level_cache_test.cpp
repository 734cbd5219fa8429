// The caches behind the L2 of AMD devices.
// SPDX-License-Identifier: Apache-2.0
#include "core/last_level_cache.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(LastLevelCache, IsKnownByArchitecture) {
  EXPECT_EQ(amd_last_level_bytes("gfx942", 8192), 256 * kMiB);
  EXPECT_EQ(amd_last_level_bytes("gfx942", 2048), 256 * kMiB) << "a partition shares all of it";
  EXPECT_EQ(amd_last_level_bytes("gfx950", 0), 256 * kMiB);
  EXPECT_EQ(amd_last_level_bytes("gfx90a", 4096), 8 * kMiB);
  EXPECT_EQ(amd_last_level_bytes("gfx906", 4096), 0) << "the L2 is all there is";
  EXPECT_EQ(amd_last_level_bytes("sm_90a", 0), 0);
}

TEST(LastLevelCache, ShrinksWithTheMemoryOfSmallerBoards) {
  EXPECT_EQ(amd_last_level_bytes("gfx1100", 384), 96 * kMiB) << "RX 7900 XTX";
  EXPECT_EQ(amd_last_level_bytes("gfx1100", 320), 80 * kMiB) << "RX 7900 XT";
  EXPECT_EQ(amd_last_level_bytes("gfx1100", 256), 64 * kMiB) << "RX 7900 GRE";
  EXPECT_EQ(amd_last_level_bytes("gfx1100", 0), 96 * kMiB) << "not told: the widest";
  EXPECT_EQ(amd_last_level_bytes("gfx1100", 512), 96 * kMiB);
  EXPECT_EQ(amd_last_level_bytes("gfx1031", 160), 80 * kMiB) << "RX 6700";
  EXPECT_EQ(amd_last_level_bytes("gfx1201", 192), 48 * kMiB) << "RX 9070 GRE";
}

TEST(LastLevelCache, SizesTheFlushWhereItIsLargerThanTheL2) {
  DeviceInfo device = device_for_architecture("hip", "gfx942");
  EXPECT_EQ(device.l2_bytes, 4 * kMiB);
  EXPECT_EQ(bytes_to_flush_out(device), 256 * kMiB);
  EXPECT_EQ(bytes_to_flush_out(device_for_architecture("hip", "gfx90a")), 8 * kMiB);
  const DeviceInfo hopper = device_for_architecture("cuda", "sm_90a");
  EXPECT_EQ(hopper.last_level_bytes, 0);
  EXPECT_EQ(bytes_to_flush_out(hopper), hopper.l2_bytes);
  device.l2_bytes = 512 * kMiB;
  set_amd_last_level(device, "gfx942");
  EXPECT_EQ(device.last_level_bytes, 0);
  EXPECT_EQ(bytes_to_flush_out(device), 512 * kMiB);
}

}  // namespace
}  // namespace kiln
