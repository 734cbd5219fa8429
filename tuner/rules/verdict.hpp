// Verdict: the winner of the finals, and whether its lead is real. Pure arithmetic on interleaved
// samples.
//
// Finalists run in turn, round after round (ABCABC), so drift of clocks and load affects all alike.
// Two finalists are compared by the ratios of their samples in the same rounds: the interval for
// the median ratio comes from its order statistics (the sign test), which assumes nothing about the
// noise. docs/measurement.md explains.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "db/evidence.hpp"
#include "db/records.hpp"

namespace kiln {

/// Differences below this are a tie: nobody notices them, and they do not survive the next driver.
inline constexpr double kPracticalTie = 0.01;
/// If the interval reaches further than this to both sides of 1, the verdict is unmeasurable.
inline constexpr double kUnmeasurableSpread = 0.10;

/// The bounds of the median of a/b over the rounds, at 99% confidence.
struct RatioInterval {
  double low = 0;
  double middle = 1;
  /// Infinity if there are too few rounds for an interval (fewer than 8); low is 0 then.
  double high = 0;
  [[nodiscard]] bool is_known() const { return std::isfinite(high); }
};

/// a[i] and b[i] are samples of the same round, in nanoseconds.
[[nodiscard]] RatioInterval ratio_interval(std::span<const double> a, std::span<const double> b);

struct FinalsVerdict {
  std::size_t winner = 0;  ///< index of the finalist to publish
  Verdict verdict = Verdict::none;
};

/// The verdict of a best that ran in turn with a library's call: two lists of rounds, in the
/// session's cache mode and in the other one. A best is `faster` only if the interval of its ratio
/// lies below 1 - kPracticalTie in both modes. An error counts as larger from 1% on: two results
/// that are rounded once differ by chance.
[[nodiscard]] RivalVerdict judge_rival(const Evidence::Rival& rival);

/// `samples[f][round]`: per finalist; of equally fast finalists the first counts. `default_index`:
/// the default config among them, nullopt if it was not ok (then the fastest is `better`). The
/// winner is the finalist with the smallest median. If the default config is not clearly slower,
/// the default is the winner. Without a finalist: Verdict::none.
[[nodiscard]] FinalsVerdict judge_finals(const std::vector<std::vector<double>>& samples,
                                         std::optional<std::size_t> default_index);

}  // namespace kiln
