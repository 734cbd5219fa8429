// Budget: when a session stops looking. Pure: the caller owns the clock and counts the trials.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace kiln {

/// How far a session has come.
struct Progress {
  double seconds = 0;                        ///< wall time since the session began
  std::int64_t trials = 0;                   ///< finished trials, failures included
  std::int64_t trials_without_progress = 0;  ///< finished since the best one was found
  double speedup = 0;  ///< of the best over the default config; 0: one of the two is not known
};

/// Why a session stops.
enum class BudgetLimit { seconds, trials, no_progress, target };

/// Limits of a session; one that is absent does not limit. The first one reached ends the session.
struct Budget {
  std::optional<double> seconds = {};
  std::optional<std::int64_t> trials = {};
  std::optional<std::int64_t> no_progress_trials = {};
  std::optional<double> target = {};  ///< a speed-up over the default config that is good enough

  /// The limit that is reached, nullopt while none is.
  [[nodiscard]] std::optional<BudgetLimit> exhausted(const Progress& progress) const;
};

/// Throws UsageError for a limit that leaves no room for a single trial (zero, negative, not
/// finite).
void check(const Budget& budget);

}  // namespace kiln
