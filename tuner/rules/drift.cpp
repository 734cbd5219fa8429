// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/drift.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/statistics.hpp"
#include "tuner/rules/stop_rule.hpp"
#include "tuner/rules/verdict.hpp"

namespace kiln {
namespace {

// Standard errors of the median that count as certain, as in the stop rule.
constexpr double kCertain = 4;
// Clocks and heat change a device by some per cent. More is a neighbour's burst, gone with the next
// trial: correcting for it would make slow configs look fast.
constexpr double kMostDrift = 1.25;

}  // namespace

bool DriftSchedule::due(double elapsed) const {
  return elapsed >= next_ && spent_ + last_ <= options_.max_share * elapsed;
}

void DriftSchedule::done(double elapsed, double seconds) {
  spent_ += seconds;
  last_ = seconds;
  interval_ *= options_.growth;
  next_ = elapsed + interval_;
}

DriftRecord compare_with_then(std::span<const double> then, std::span<const double> now) {
  DriftRecord drift;
  const double before = median({then.begin(), then.end()});
  const double after = median({now.begin(), now.end()});
  if (before <= 0 || after <= 0) return {0, "", 1, 0, 2, 0};
  drift.ratio = after / before;
  const double noise = std::hypot(relative_error_of_median(then), relative_error_of_median(now));
  const double margin = kCertain * noise + kPracticalTie;
  drift.low = drift.ratio * std::max(0.0, 1 - margin);
  drift.high = drift.ratio * (1 + margin);
  return drift;
}

void DriftCurve::add(const DriftRecord& drift, std::int64_t leader) {
  const bool is_burst = drift.ratio > kMostDrift || drift.ratio < 1 / kMostDrift;
  const double ratio = drift.beyond_noise() && !is_burst ? drift.ratio : 1;
  points_[drift.sequence] = at(leader) * ratio;
}

double DriftCurve::at(std::int64_t sequence) const {
  const auto after = points_.lower_bound(sequence);
  if (after == points_.end()) return points_.empty() ? 1 : points_.rbegin()->second;
  const auto [to, to_value] = *after;
  const bool is_first = after == points_.begin();
  const std::int64_t from = is_first ? 0 : std::prev(after)->first;
  const double from_value = is_first ? 1 : std::prev(after)->second;
  if (to == from) return to_value;
  // As floats: the numbers of a changed file may be too far apart for a difference of integers.
  const auto begin = static_cast<double>(from);
  const double share = (static_cast<double>(sequence) - begin) / (static_cast<double>(to) - begin);
  return from_value + share * (to_value - from_value);
}

}  // namespace kiln
