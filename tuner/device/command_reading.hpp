// The times that a program tells of itself, out of what it wrote. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/command_spec.hpp"
#include "core/result.hpp"

namespace kiln {

/// One sample or more, in nanoseconds. Where more is better, a number becomes its reciprocal in
/// seconds, so that the least is the best. The Failure {launch_error} says what was expected in
/// `text`: a positive number.
[[nodiscard]] Result<std::vector<double>> read_samples(const CommandSpec& command,
                                                       const std::string& text);

}  // namespace kiln
