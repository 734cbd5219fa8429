// What tests of whole sessions share: the faulty kernel on PoCL, with a scratch database.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/scratch_folder.hpp"
#include "templates/library.hpp"
#include "tuner/session/devices.hpp"
#include "tuner/session/session.hpp"

namespace kiln {

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "no OpenCL device here";
  }

  static bool has_opencl() {
    static const bool kHas = [] {
      for (const BackendDevices& backend : list_devices()) {
        if (backend.backend == "opencl" && !backend.devices.empty()) return true;
      }
      return false;
    }();
    return kHas;
  }

  [[nodiscard]] std::filesystem::path database() const { return folder_ / "kiln.db"; }

  /// A request for y = 2 * x + 1 over 1000 elements, restricted to `variants`.
  [[nodiscard]] TuneRequest request(const std::vector<std::string>& variants) const {
    TuneRequest made{spec_, Problem::parse(spec_, "n=1000"), "opencl", 0, {}};
    made.options.strategy = "exhaustive";
    made.options.variants = variants;
    made.options.compile_workers = 1;
    made.options.measure.warm_up_ns = 0;
    made.options.measure.stop.max_ns = 20e6;
    made.options.finals.max_ns = 50e6;
    return made;
  }

  KernelSpec spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/faulty");
  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

}  // namespace kiln
