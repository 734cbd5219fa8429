// What Kiln makes of NVML's answers, with a stub in NVML's place.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvml.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr const char* kBusId = "0000:18:00.0";

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KILN_NVML_LIBRARY", KILN_NVML_STUB, 1);  // read by the first question of the process
    stub_ = ::dlopen(KILN_NVML_STUB, RTLD_NOW);
    ASSERT_NE(stub_, nullptr) << ::dlerror();
    variable<unsigned long long>("kiln_stub_reasons") = 0;
    variable<bool>("kiln_stub_counts_energy") = true;
    variable<bool>("kiln_stub_tells_power") = true;
  }

  template <typename T>
  T& variable(const char* name) {
    return *static_cast<T*>(::dlsym(stub_, name));
  }

  void* stub_ = nullptr;
};

TEST_F(NvmlTest, TellsClocksHeatAndPower) {
  const Device::ClockState state = NvmlDevice(kBusId).clock_state();
  EXPECT_EQ(state.clock_khz, 1980000);
  EXPECT_EQ(state.memory_clock_khz, 3201000);
  EXPECT_EQ(state.temperature_c, 61);
  EXPECT_EQ(state.power_mw, 500000);
  EXPECT_FALSE(state.throttled);
  EXPECT_EQ(state.throttle, "none");
}

TEST_F(NvmlTest, NamesWhatHoldsTheClockBack) {
  variable<unsigned long long>("kiln_stub_reasons") = 0x4 | 0x20;
  const Device::ClockState state = NvmlDevice(kBusId).clock_state();
  EXPECT_TRUE(state.throttled);
  EXPECT_EQ(state.throttle, "power_cap,heat");
  EXPECT_EQ(throttle_text(0x1 | 0x2 | 0x10 | 0x100), "none") << "idle, set by the user, in step";
  EXPECT_EQ(throttle_text(0x8 | 0x40 | 0x80), "slowdown,hardware_heat,power_brake");
}

TEST_F(NvmlTest, CountsEnergyWithTheBoardsOwnMeter) {
  NvmlDevice device(kBusId);
  EXPECT_EQ(device.energy_unavailable(), "");
  variable<unsigned long long>("kiln_stub_millijoules") = 1500;
  EXPECT_DOUBLE_EQ(device.energy_j().value(), 1.5);
  variable<unsigned long long>("kiln_stub_millijoules") = 4000;
  EXPECT_DOUBLE_EQ(device.energy_j().value(), 4.0);
}

TEST_F(NvmlTest, SumsUpThePowerWhereTheBoardHasNoMeter) {
  variable<bool>("kiln_stub_counts_energy") = false;
  NvmlDevice device(kBusId);
  EXPECT_EQ(device.energy_unavailable(), "");
  const auto start = std::chrono::steady_clock::now();
  const double before = device.energy_j().value();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double joules = device.energy_j().value() - before;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_GE(joules, 500 * 0.019);
  EXPECT_LE(joules, 500 * spent.count() + 1e-6);
}

TEST_F(NvmlTest, SaysWhyEnergyIsNotKnown) {
  variable<bool>("kiln_stub_counts_energy") = false;
  variable<bool>("kiln_stub_tells_power") = false;
  NvmlDevice silent(kBusId);
  EXPECT_EQ(silent.energy_unavailable(), "NVML reports neither energy nor power for this device");
  EXPECT_FALSE(silent.energy_j().has_value());
  NvmlDevice unknown("0000:99:00.0");
  EXPECT_EQ(unknown.energy_unavailable(), "NVML does not know the device 0000:99:00.0 (error 6)");
  EXPECT_EQ(unknown.clock_state().throttle, "unknown");
}

TEST(NvmlDeathTest, WithoutTheLibraryNothingIsKnown) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked before
  const auto ask = [] {
    ::setenv("KILN_NVML_LIBRARY", "/nowhere/libnvidia-ml.so.1", 1);
    NvmlDevice device(kBusId);
    std::fprintf(stderr, "%s; throttle %s", device.energy_unavailable().c_str(),
                 device.clock_state().throttle.c_str());
    std::exit(device.energy_j() ? 1 : 0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0),
              "unavailable: NVML library not found \\(no /nowhere/libnvidia-ml.so.1\\); throttle "
              "unknown");
}

}  // namespace
}  // namespace kiln
