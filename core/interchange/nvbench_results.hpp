// Reads the results that nvbench writes with --json (devices; benchmarks with axes and states, a
// state with axis_values and summaries).
//
// Source of the format: nvbench's JSON printer, version 1.0 of the file. A state is a trial and its
// axes are the tunables; which axes belong to the problem is for the importer to say. The time is
// the summary nv/cold/time/gpu/median, else nv/cold/time/gpu/mean: single runs with a cold cache,
// in seconds, which the hint "duration" means.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like one?
[[nodiscard]] bool is_nvbench_results(std::string_view text);

/// Reads the states of each benchmark on each device, one group each, in the order of the file. A
/// state that was skipped is a failure with the reason as its message. The element type of a type
/// axis has Kiln's name: "F32" is f32. A group without trials has the messages for benchmarks that
/// cannot be read. Throws InputError naming the file for one of another version, and for one that
/// holds no state.
[[nodiscard]] std::vector<RecordedTrials> read_nvbench_results(std::string_view text,
                                                               const std::string& path);

}  // namespace kiln
