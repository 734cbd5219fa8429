// Reads a program's own times from its output. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/command_spec.hpp"
#include "core/result.hpp"

namespace kiln {

/// Returns one or more samples in nanoseconds. If more is better, a number counts as its reciprocal
/// in seconds, so that the smallest is the best. The Failure {launch_error} states what was
/// expected in `text`: a positive number.
[[nodiscard]] Result<std::vector<double>> read_samples(const CommandSpec& command,
                                                       const std::string& text);

}  // namespace kiln
