// Databases as `kiln tune` on this machine would leave them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "core/config.hpp"
#include "core/device.hpp"
#include "core/timing.hpp"

namespace kiln::test {

struct Tuned {
  std::string kernel;
  std::string problem;  ///< canonical
  std::string problem_json;
  Config config;
  Timing timing = Timing::eager;
};

/// Adds a finished session of the OpenCL device, changed by `change`, with a best.
void store_best(
    const std::string& path, const Tuned& tuned,
    const std::function<void(DeviceInfo&)>& change = [](DeviceInfo&) {});

}  // namespace kiln::test
