// Devices: what they are called, what they define, their caches and how many blocks run at once.
// SPDX-License-Identifier: Apache-2.0
#include "core/device.hpp"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/last_level_cache.hpp"
#include "core/occupancy.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Devices: names, the scope they define, and the made-up ones.

TEST(Device, HasASelectorAndAnIdentity) {
  DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  device.name = "NVIDIA H200";
  device.ordinal = 3;
  EXPECT_EQ(selector_of(device), "cuda:3");
  EXPECT_EQ(identity_of(device), "cuda/nvidia/NVIDIA H200/sm_90a");
}

TEST(Device, OfAmdIsToldFromPartitionsAndBoardsOfTheSameName) {
  DeviceInfo whole = device_for_architecture("hip", "gfx942");
  whole.name = "AMD Instinct MI300X";
  DeviceInfo eighth = whole;
  eighth.compute_units = 38;
  EXPECT_NE(identity_of(whole), identity_of(eighth));
  EXPECT_EQ(identity_of(whole), "hip/amd/AMD Instinct MI300X/gfx942/304 units");
  eighth.partition = "CPX/NPS4";
  EXPECT_EQ(identity_of(eighth), "hip/amd/AMD Instinct MI300X/gfx942/38 units/CPX/NPS4");
}

TEST(Device, OfAnotherVendorKeepsItsIdentity) {
  DeviceInfo nvidia = device_for_architecture("cuda", "sm_80");
  nvidia.backend = "hip";  // HIP over CUDA
  EXPECT_EQ(identity_of(nvidia), "hip/nvidia/A100 (made up)/sm_80");
  DeviceInfo cpu = device_for_architecture("opencl", "opencl");
  cpu.vendor = "amd";
  cpu.is_cpu = true;
  EXPECT_EQ(identity_of(cpu), "opencl/amd/OpenCL device (made up)/opencl");
}

TEST(Device, IsKnownByTheIdentityThatOlderRowsHave) {
  const DeviceInfo device = device_for_architecture("hip", "gfx90a");
  EXPECT_EQ(current_identity("hip/amd/MI250X (made up)/gfx90a", device), identity_of(device));
  EXPECT_EQ(current_identity(identity_of(device), device), identity_of(device));
  EXPECT_EQ(current_identity("hip/amd/MI210/gfx90a", device), "hip/amd/MI210/gfx90a");
}

TEST(Device, DefinesExactlyTheDocumentedNames) {
  Scope scope;
  add_to_scope(device_for_architecture("hip", "gfx90a"), scope);
  EXPECT_EQ(scope.values().size(), device_scope_names().size());
  for (const std::string& name : device_scope_names()) EXPECT_TRUE(scope.find(name)) << name;
  EXPECT_EQ(*scope.find("backend"), Value(std::string("hip")));
  EXPECT_EQ(*scope.find("device.warp_size"), Value(std::int64_t{64}));
  EXPECT_EQ(*scope.find("device.has_f64"), Value(true));
}

TEST(Device, TakesThreadsOfADimensionIn32BitsWithHip) {
  EXPECT_EQ(max_threads_per_dimension(device_for_architecture("hip", "gfx90a")), 4294967295);
  EXPECT_GT(max_threads_per_dimension(device_for_architecture("cuda", "sm_80")), 4294967295);
}

/// The units that an architecture has, without "has_".
std::string units_of(const std::string& backend, const std::string& architecture,
                     std::int64_t compute_capability = 0) {
  DeviceInfo device;  // as one is read from the database
  device.backend = backend;
  device.architecture = architecture;
  device.compute_capability = compute_capability;
  Scope scope;
  add_to_scope(device, scope);
  std::string units;
  for (const char* unit : {"async_copy", "tensor_maps", "mma", "wgmma", "fp8", "mfma", "wmma"}) {
    if (*scope.find(std::string("device.has_") + unit) == Value(true)) {
      units += (units.empty() ? "" : " ") + std::string(unit);
    }
  }
  return units;
}

TEST(Device, HasTheUnitsOfItsArchitecture) {
  EXPECT_EQ(units_of("cuda", "sm_75", 75), "");
  EXPECT_EQ(units_of("cuda", "sm_80", 80), "async_copy mma");
  EXPECT_EQ(units_of("cuda", "sm_89", 89), "async_copy mma fp8");
  EXPECT_EQ(units_of("cuda", "sm_90", 90), "async_copy tensor_maps mma fp8");
  EXPECT_EQ(units_of("cuda", "sm_90a", 90), "async_copy tensor_maps mma wgmma fp8");
  EXPECT_EQ(units_of("cuda", "sm_100a", 100), "async_copy tensor_maps mma fp8");
  EXPECT_EQ(units_of("cuda", "sm_120a", 120), "async_copy tensor_maps mma fp8");
  EXPECT_EQ(units_of("hip", "gfx906"), "");
  EXPECT_EQ(units_of("hip", "gfx90a"), "mfma");
  EXPECT_EQ(units_of("hip", "gfx942"), "fp8 mfma");
  EXPECT_EQ(units_of("hip", "gfx950"), "fp8 mfma");
  EXPECT_EQ(units_of("hip", "gfx1030"), "");
  EXPECT_EQ(units_of("hip", "gfx1100"), "wmma");
  EXPECT_EQ(units_of("hip", "gfx1201"), "fp8 wmma");
  EXPECT_EQ(units_of("opencl", "sm_90a", 90), "") << "OpenCL reaches none of them";
}

TEST(MadeUpDevice, HasTheLimitsOfItsArchitecture) {
  const DeviceInfo hopper = device_for_architecture("cuda", "sm_90a");
  EXPECT_EQ(hopper.compute_capability, 90);
  EXPECT_EQ(hopper.max_shared_bytes_optin, 232448);
  EXPECT_EQ(device_for_architecture("cuda", "sm_75").max_threads_per_unit, 1024);
  EXPECT_EQ(device_for_architecture("cuda", "sm_120").compute_capability, 120);
  EXPECT_EQ(device_for_architecture("hip", "gfx1030").warp_size, 32);
  EXPECT_EQ(device_for_architecture("hip", "gfx906").warp_size, 64);
  EXPECT_EQ(device_for_architecture("hip", "gfx1100").warp_size, 32);
  EXPECT_EQ(device_for_architecture("hip", "gfx942").warp_size, 64);
  EXPECT_FALSE(device_for_architecture("hip", "gfx906").has_f32_atomic_add);
  EXPECT_TRUE(device_for_architecture("hip", "gfx90a").has_f32_atomic_add);
  EXPECT_TRUE(device_for_architecture("hip", "gfx1201").has_f32_atomic_add);
  EXPECT_FALSE(device_for_architecture("opencl", "opencl").has_shuffle);
}

TEST(MadeUpDevice, RefusesWhatIsNotKnown) {
  const std::string error =
      test::error_of<DeviceError>([&] { return device_for_architecture("cuda", "sm_91"); });
  EXPECT_EQ(error.find("the limits of cuda architecture 'sm_91' are not known (known: sm_75, "), 0u)
      << "another part is no slip: " << error;
  const std::string slip =
      test::error_of<DeviceError>([&] { return device_for_architecture("cuda", "SM90"); });
  EXPECT_THAT(slip, HasSubstr("; did you mean 'sm_90'?"));
  EXPECT_THROW((void)device_for_architecture("metal", "m1"), DeviceError);
}

// The caches behind the L2 of AMD devices.

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

// Occupancy: which of the limits of a compute unit counts.

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
