// Bests of other tuners: converts their recorded trials of one problem to a best. Kernel and
// tunables must be those of a spec.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/setting.hpp"
#include "db/records.hpp"
#include "interchange/recorded_trials.hpp"

namespace kiln {

/// Returns the problem text with "{0}", "{1}", ... replaced by the recorded sizes, in the file's
/// order, and "{NAME}" by the argument of that name. Throws InputError for a number or name that
/// the file does not have.
[[nodiscard]] std::string with_recorded_sizes(const std::string& problem,
                                              const RecordedTrials& recorded);

/// Returns the fastest recorded config that is legal for `problem` on `device`, with the close ones
/// as evidence. The recorded tunables must be those of one variant. Driver, compiler and template
/// are unknown, so the best is stale everywhere. Its time of publication is 1970, so every best of
/// our own is newer. Throws InputError if it was measured on another device, the tunables belong to
/// no variant, or no config is legal.
[[nodiscard]] BestRecord best_of_recorded(const Setting& setting, const RecordedTrials& recorded);

}  // namespace kiln
