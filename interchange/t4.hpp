// Reads T4 files: the results of an autotuner in the JSON form of the FAIR auto-tuning toolset
// (results: configuration, times, invalidity, measurements, objectives; schema 1.0.0).
//
// A T4 file lists no values of its tunables: they are those of its configs. Each measurement states
// the unit of its time, or metadata.timeunit does for all; where neither does, times are taken as
// milliseconds, which Kernel Tuner writes, and a note says so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like one?
[[nodiscard]] bool is_t4(std::string_view text);

/// Reads all trials. Throws InputError as read_recorded_trials does.
[[nodiscard]] RecordedTrials read_t4(std::string_view text, const std::string& path);

}  // namespace kiln
