// Bests of other tuners: from what they recorded of one problem to a best of ours, where kernel and
// tunables are those of a spec.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/interchange/recorded_trials.hpp"
#include "db/store.hpp"

namespace kiln {

/// The problem text with "{0}", "{1}", ... replaced by the recorded sizes, in the file's order.
/// Throws InputError for a number that the file does not have.
[[nodiscard]] std::string with_recorded_sizes(const std::string& problem,
                                              const RecordedTrials& recorded);

/// The fastest recorded config that is legal for `problem` on `device`, with those close to it as
/// evidence. The recorded tunables must be those of one variant. Driver, compiler and template are
/// not known: the best is stale everywhere. Its time of publication is 1970, so that every best of
/// our own is newer. Throws InputError: measured on another device, tunables of no variant, nothing
/// legal.
[[nodiscard]] BestRecord best_of_recorded(const KernelSpec& spec, const Problem& problem,
                                          const DeviceInfo& device, const RecordedTrials& recorded);

}  // namespace kiln
