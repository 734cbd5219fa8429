// Replay: runs a strategy in a recorded space and scores what it found.
//
// The score is that of the autotuning methodology (Willemsen, Schoonhoven, Filipovic, Tørring,
// van Nieuwpoort, van Werkhoven: "A methodology for comparing optimization algorithms for
// auto-tuning", Future Generation Computer Systems, 2024), counted in evaluations: after each
// evaluation (baseline - found) / (baseline - optimum), averaged up to the budget. The baseline is
// what random search without replacement finds on average, computed and not drawn; the budget is
// when it has come 95% of the way from the median to the optimum. 0 is as good as random search,
// 1 finds the optimum at once. A config that fails costs an evaluation and finds nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "search/recorded_space.hpp"

namespace kiln {

/// What a recorded space offers to a search.
struct ReplayTarget {
  double optimum_ns = 0;
  double median_ns = 0;  ///< of the configs that ran
  double worst_ns = 0;   ///< counts as found while every evaluation failed
  /// [n - 1]: the average best time after n random evaluations, up to the budget.
  std::vector<double> baseline_ns;
};

[[nodiscard]] ReplayTarget replay_target(const RecordedSpace& recorded);

/// After how many evaluations the share of the optimum is reported.
inline constexpr std::array<std::size_t, 5> kShareCounts = {25, 50, 100, 200, 400};

/// One run, or the mean of several.
struct ReplayScore {
  double score = 0;
  std::array<double, kShareCounts.size()> shares = {};  ///< optimum / found, 0 to 1
};

/// Runs `strategy` (a name) once. Throws UsageError for a name that is no strategy.
[[nodiscard]] ReplayScore replay(const RecordedSpace& recorded, const ReplayTarget& target,
                                 const std::string& strategy, std::uint64_t seed);

/// Mean of `scores`; must not be empty.
[[nodiscard]] ReplayScore mean(const std::vector<ReplayScore>& scores);

}  // namespace kiln
