// Reads KTT's own results as JSON (Metadata; Results with KernelName, Status, TotalDuration,
// Configuration and ComputationResults).
//
// Source of the format: the serializer of KTT 2.2. All times have the unit of
// Metadata.TimeUnit. A file lists no values of its tunables: they are those of its configs. It does
// not say which problem was solved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "interchange/recorded_trials.hpp"

namespace kiln {

/// Does `text` look like one?
[[nodiscard]] bool is_ktt_results(std::string_view text);

/// Reads all results; `TotalDuration` is the time, a status other than "Ok" a failure. A result of
/// a second kernel is in `bad`. Throws InputError as read_recorded_trials does.
[[nodiscard]] RecordedTrials read_ktt_results(std::string_view text, const std::string& path);

}  // namespace kiln
