// The provisional best of an unfinished session: the fastest of its trials so far. No finals have
// confirmed it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "db/records.hpp"

namespace kiln {

/// The fastest trial of `session`, with the time of the default config (its first trial) and of the
/// variant named "naive" from the same search. Its verdict is `unmeasurable` and `published_at` is
/// empty; the hash of its template and the cost of the problem, which need the spec, are not filled
/// in. nullopt: no trial was ok, or the session looks for another objective than time.
[[nodiscard]] std::optional<BestRecord> best_so_far(const SessionRecord& session,
                                                    const std::vector<TrialRecord>& trials);

/// Was the row made by best_so_far()?
[[nodiscard]] bool is_unfinished(const BestRecord& best);

}  // namespace kiln
