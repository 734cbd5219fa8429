// Devices: names, the scope they define, and the made-up ones.
// SPDX-License-Identifier: Apache-2.0
#include "core/device.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

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
  EXPECT_NE(slip.find("; did you mean 'sm_90'?"), std::string::npos) << slip;
  EXPECT_THROW((void)device_for_architecture("metal", "m1"), DeviceError);
}

}  // namespace
}  // namespace kiln
