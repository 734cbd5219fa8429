// Proves one config of one problem: all checks of a config that would be published, and one time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/trial.hpp"
#include "tuner/session/comparison.hpp"

namespace kiln {

struct Proof {
  DeviceInfo device;
  Trial trial;            ///< its outcome, its message, its samples
  std::string reference;  ///< how results were proved, in words; empty if it did not come to that
};

/// Runs the request's only config through the compiler, every check and the measurement of the
/// search. Throws UsageError, InputError or DeviceError if the run must end, and Error (exit code
/// 1) if the problem cannot be prepared; a config that fails is an outcome. `finals` and `rounds`
/// of the options are not used.
[[nodiscard]] Proof prove(const ComparisonRequest& request);

}  // namespace kiln
