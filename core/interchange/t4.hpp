// Reads T4 files: the results of an autotuner in the JSON form of the FAIR auto-tuning toolset
// (results: configuration, times, invalidity, measurements, objectives; schema 1.0.0).
//
// A T4 file lists no values of its tunables: they are those of its configs. The unit of times
// stands in metadata.timeunit; milliseconds where it does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like one?
[[nodiscard]] bool is_t4(std::string_view text);

/// Reads all trials. Throws InputError as read_recorded_trials does.
[[nodiscard]] RecordedTrials read_t4(std::string_view text, const std::string& path);

}  // namespace kiln
