// RecordedSpace: the configs that somebody has tried, with what became of them, as a space that a
// strategy can search without a device.
//
// Sources: trials of our own database, and what interchange reads. A config that was recorded
// more than once counts with its best time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/recorded_trials.hpp"
#include "core/trial.hpp"
#include "search/space.hpp"

namespace kiln {

/// What a search learns of a config.
struct RecordedResult {
  Outcome outcome = Outcome::ok;
  double time_ns = 0;  ///< 0 unless ok
};

struct RecordedSpace {
  std::string name;  ///< of the file or session, for tables
  /// A recording tells no default config: that of a variant is the recorded config nearest to the
  /// middle of each tunable's values.
  Space space;
  std::vector<RecordedResult> results;  ///< by index of the space
};

/// Throws InputError, beginning with `name`, when there is nothing to search for (fewer than two
/// different times), or when a tunable has more than 254 values.
[[nodiscard]] RecordedSpace recorded_space(const std::string& name,
                                           const std::vector<Trial>& trials);

/// The same for what another tuner recorded; its configs are of the one variant "recorded".
[[nodiscard]] RecordedSpace recorded_space(const std::string& name, const RecordedTrials& recorded);

}  // namespace kiln
