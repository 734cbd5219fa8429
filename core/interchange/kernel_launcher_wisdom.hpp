// Reads the wisdom files of Kernel Launcher (JSON lines: a header with version, key, objective and
// tunable_parameters; then a config, problem_size, environment and objective a line).
//
// Source of the format: Kernel Launcher's documentation of wisdom files, version 1.0. Times are in
// milliseconds, as Kernel Tuner measures them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like one?
[[nodiscard]] bool is_kernel_launcher_wisdom(std::string_view text);

/// The trials of each problem and device, in the order of their first lines; the first group has
/// the messages for the lines that cannot be read. Throws InputError naming the file and line for a
/// header that cannot be read, and for an objective other than the time.
[[nodiscard]] std::vector<RecordedTrials> read_kernel_launcher_wisdom(std::string_view text,
                                                                      const std::string& path);

}  // namespace kiln
