// Files of other tools that `kiln db import` reads: those of one kernel on one device, and those
// that hold several kernels, devices or problems.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/interchange/recorded_trials.hpp"

namespace kiln {

/// What a file of another tool is, for messages: "a cache of Kernel Tuner"; empty for any other
/// text.
[[nodiscard]] std::string_view foreign_format(std::string_view text);

/// Reads a file of any of those formats: one group per kernel, device and problem that it tells
/// apart. A row that cannot be read costs that row (`bad` of its group). Throws InputError naming
/// the file and the line, with what was expected there, for a file that cannot be read at all.
[[nodiscard]] std::vector<RecordedTrials> read_recorded_groups(std::string_view text,
                                                               const std::string& path);

}  // namespace kiln
