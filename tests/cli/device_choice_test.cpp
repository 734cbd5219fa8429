// Which device a word means: GPUs before CPUs, in the order of the backends.
// SPDX-License-Identifier: Apache-2.0
#include "cli/device_choice.hpp"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

DeviceInfo device(const std::string& backend, int ordinal, bool is_cpu) {
  DeviceInfo info;
  info.backend = backend;
  info.ordinal = ordinal;
  info.is_cpu = is_cpu;
  return info;
}

std::string chosen(const std::vector<BackendDevices>& backends, const std::string& text) {
  const DeviceInfo* found = find_device(backends, text);
  return found == nullptr ? "none" : selector_of(*found);
}

const BackendDevices kNoCuda = {"cuda", {}, "unavailable: no driver"};
const BackendDevices kCuda = {"cuda", {device("cuda", 0, false), device("cuda", 1, false)}, ""};
const BackendDevices kMixedOpencl = {
    "opencl", {device("opencl", 0, true), device("opencl", 1, false)}, ""};
const BackendDevices kCpuOpencl = {
    "opencl", {device("opencl", 0, true), device("opencl", 1, true)}, ""};

TEST(FindDevice, AutoIsTheFirstGpuInTheOrderOfTheBackends) {
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "auto"), "cuda:0");
  EXPECT_EQ(chosen({kNoCuda, kMixedOpencl}, "auto"), "opencl:1");
}

TEST(FindDevice, AutoTakesACpuWhereThereIsNoGpu) {
  EXPECT_EQ(chosen({kNoCuda, kCpuOpencl}, "auto"), "opencl:0");
  EXPECT_EQ(chosen({kNoCuda}, "auto"), "none");
}

TEST(FindDevice, ABackendMeansItsGpuThenItsCpu) {
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "opencl"), "opencl:1");
  EXPECT_EQ(chosen({kCuda, kCpuOpencl}, "opencl"), "opencl:0");
  EXPECT_EQ(chosen({kNoCuda, kCpuOpencl}, "cuda"), "none");
}

TEST(FindDevice, ANumberMeansThatDevice) {
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "opencl:0"), "opencl:0");
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "cuda:1"), "cuda:1");
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "cuda:2"), "none");
  EXPECT_EQ(chosen({kCuda, kMixedOpencl}, "rocm"), "none");
}

std::string all(const std::vector<BackendDevices>& backends) {
  std::string text;
  for (const DeviceInfo& device : all_devices(backends)) text += selector_of(device) + " ";
  return text;
}

TEST(AllDevices, AreTheGpusEachThroughOneBackend) {
  BackendDevices cuda = kCuda;
  for (DeviceInfo& gpu : cuda.devices) gpu.vendor = "nvidia";
  BackendDevices opencl = {
      "opencl",
      {device("opencl", 0, true), device("opencl", 1, false), device("opencl", 2, false)},
      ""};
  opencl.devices[1].vendor = "nvidia";
  opencl.devices[2].vendor = "intel";
  EXPECT_EQ(all({cuda, opencl}), "cuda:0 cuda:1 opencl:2 ");
  EXPECT_EQ(all({kNoCuda, opencl}), "opencl:1 opencl:2 ");
}

TEST(AllDevices, AreTheCpusWhereThereIsNoGpu) {
  EXPECT_EQ(all({kNoCuda, kCpuOpencl}), "opencl:0 opencl:1 ");
  EXPECT_EQ(all({kNoCuda}), "");
}

TEST(ShortReason, LeavesOutMostOfTheFilesThatWereLookedFor) {
  EXPECT_EQ(
      short_reason("unavailable: NVRTC library not found (no a.so, /b/a.so, /c/a.so, /d/a.so)"),
      "unavailable: NVRTC library not found (no a.so, /b/a.so and 2 more: kiln devices -v)");
  const std::string few =
      "unavailable: CUDA driver library not found (no libcuda.so.1, libcuda.so)";
  EXPECT_EQ(short_reason(few), few);
  EXPECT_EQ(short_reason("unavailable: hipInit: 101"), "unavailable: hipInit: 101");
  EXPECT_EQ(short_reason("odd (no end, of, it, at all"), "odd (no end, of, it, at all");
}

}  // namespace
}  // namespace kiln::cli
