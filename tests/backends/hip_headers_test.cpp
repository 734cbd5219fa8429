// Our declarations of HIP's calls and numbers against AMD's headers. Built only where those are
// found.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

// Plain C declarations: overloads would make the names ambiguous.
#define __HIP_DISABLE_CPP_FUNCTIONS__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "backends/driver_errors.hpp"
#include "backends/hip/hip_api.hpp"
#include "tests/backends/same_call.hpp"

namespace kiln {
namespace {

TEST(HipHeaders, AgreeOnTheCalls) {
#define KILN_COMPARE(result, member, symbol, signature) \
  static_assert(SameCall<decltype(HipApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_HIP_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
#define KILN_COMPARE(result, member, symbol, signature) \
  static_assert(SameCall<decltype(HiprtcApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_HIPRTC_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
#define KILN_COMPARE(member, symbol) \
  static_assert(SameCall<decltype(StreamApi::member), decltype(&::symbol)>::value, #symbol);
  KILN_HIP_STREAM_CALLS(KILN_COMPARE)
  KILN_HIP_GRAPH_CALLS(KILN_COMPARE)
#undef KILN_COMPARE
  EXPECT_EQ(kCaptureRelaxed, static_cast<int>(hipStreamCaptureModeRelaxed));
  EXPECT_EQ(kCaptureNone, static_cast<int>(hipStreamCaptureStatusNone));
  EXPECT_EQ(kStreamNonBlocking, static_cast<unsigned>(hipStreamNonBlocking));
  EXPECT_EQ(kEventDefault, static_cast<unsigned>(hipEventDefault));
}

TEST(HipHeaders, AgreeOnDeviceAttributes) {
  using enum HipDeviceAttribute;
  EXPECT_NUMBER(clock_khz, hipDeviceAttributeClockRate);
  EXPECT_NUMBER(l2_bytes, hipDeviceAttributeL2CacheSize);
  EXPECT_NUMBER(max_block_x, hipDeviceAttributeMaxBlockDimX);
  EXPECT_NUMBER(max_block_y, hipDeviceAttributeMaxBlockDimY);
  EXPECT_NUMBER(max_block_z, hipDeviceAttributeMaxBlockDimZ);
  EXPECT_NUMBER(max_grid_x, hipDeviceAttributeMaxGridDimX);
  EXPECT_NUMBER(max_grid_y, hipDeviceAttributeMaxGridDimY);
  EXPECT_NUMBER(max_grid_z, hipDeviceAttributeMaxGridDimZ);
  EXPECT_NUMBER(max_threads_per_block, hipDeviceAttributeMaxThreadsPerBlock);
  EXPECT_NUMBER(max_threads_per_multiprocessor, hipDeviceAttributeMaxThreadsPerMultiProcessor);
  EXPECT_NUMBER(memory_bus_bits, hipDeviceAttributeMemoryBusWidth);
  EXPECT_NUMBER(memory_clock_khz, hipDeviceAttributeMemoryClockRate);
  EXPECT_NUMBER(multiprocessor_count, hipDeviceAttributeMultiprocessorCount);
  EXPECT_NUMBER(max_registers_per_block, hipDeviceAttributeMaxRegistersPerBlock);
  EXPECT_NUMBER(max_shared_bytes, hipDeviceAttributeMaxSharedMemoryPerBlock);
  EXPECT_NUMBER(shared_bytes_per_multiprocessor,
                hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
  EXPECT_NUMBER(warp_size, hipDeviceAttributeWarpSize);
}

TEST(HipHeaders, AgreeOnErrors) {
  EXPECT_NUMBER(DriverCode::out_of_memory, hipErrorOutOfMemory);
  EXPECT_NUMBER(DriverCode::no_device, hipErrorNoDevice);
  EXPECT_NUMBER(DriverCode::ecc_uncorrectable, hipErrorECCNotCorrectable);
  EXPECT_NUMBER(DriverCode::illegal_address, hipErrorIllegalAddress);
  EXPECT_NUMBER(DriverCode::launch_timeout, hipErrorLaunchTimeOut);
  EXPECT_NUMBER(DriverCode::device_assert, hipErrorAssert);
  EXPECT_NUMBER(DriverCode::launch_failed, hipErrorLaunchFailure);
  EXPECT_NUMBER(DriverCode::unknown, hipErrorUnknown);
}

}  // namespace
}  // namespace kiln
