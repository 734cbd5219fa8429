// Computes an interval for each ratio between finalists, and judges the winner by them.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/statistics.hpp"

namespace kiln {
namespace {

// Chance that the true median lies outside the interval, on one side.
constexpr double kOneSidedRisk = 0.005;
constexpr double kOneSidedDeviations = 2.5758;  // of the normal distribution, for that risk

/// The largest k with P(Binomial(n, 1/2) < k) <= risk: the interval for the median runs from the
/// k-th smallest value to the k-th largest. 0: too few values.
std::size_t sign_test_rank(std::size_t n) {
  // 2^-n is no double from 1,075 on; long before, the normal distribution is as good.
  constexpr std::size_t kMany = 500;
  if (n > kMany) {
    const auto many = static_cast<double>(n);
    return static_cast<std::size_t>(many / 2 - kOneSidedDeviations * std::sqrt(many) / 2);
  }
  double term = 1;  // P(X = 0) = 2^-n
  for (std::size_t i = 0; i < n; ++i) term /= 2;
  double below = 0;  // P(X < k)
  std::size_t k = 0;
  while (k < n && below + term <= kOneSidedRisk) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

std::size_t fastest_of(const std::vector<std::vector<double>>& samples) {
  std::size_t fastest = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (median(samples[i]) < median(samples[fastest])) fastest = i;
  }
  return fastest;
}

bool says_nothing(const RatioInterval& ratio) {
  return ratio.low < 1 - kUnmeasurableSpread && ratio.high > 1 + kUnmeasurableSpread;
}

}  // namespace

RatioInterval ratio_interval(std::span<const double> a, std::span<const double> b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  }
  std::sort(ratios.begin(), ratios.end());
  const std::size_t rank = sign_test_rank(ratios.size());
  if (rank == 0)
    return {0, ratios.empty() ? 1 : median(ratios), std::numeric_limits<double>::infinity()};
  return {ratios[rank - 1], median(ratios), ratios[ratios.size() - rank]};
}

FinalsVerdict judge_finals(const std::vector<std::vector<double>>& samples,
                           std::optional<std::size_t> default_index) {
  if (samples.empty()) return {0, Verdict::none};
  const std::size_t fastest = fastest_of(samples);
  if (!default_index) return {fastest, Verdict::better};
  if (fastest == *default_index) return {fastest, Verdict::tie};
  const RatioInterval gain = ratio_interval(samples[fastest], samples[*default_index]);
  if (says_nothing(gain)) return {*default_index, Verdict::unmeasurable};
  if (gain.high < 1 - kPracticalTie) return {fastest, Verdict::better};
  return {*default_index, Verdict::tie};
}

RivalVerdict judge_rival(const Evidence::Rival& rival) {
  constexpr double kErrorNoise = 1.01;
  const RatioInterval usual = ratio_interval(rival.best_ns, rival.ns);
  const RatioInterval other = ratio_interval(rival.other_best_ns, rival.other_ns);
  const bool is_exact = rival.best_error <= kErrorNoise * rival.error;  // false for NaN
  if (!is_exact) return RivalVerdict::less_exact;
  if (std::max(usual.high, other.high) < 1 - kPracticalTie) return RivalVerdict::faster;
  if (std::max(usual.low, other.low) > 1 + kPracticalTie) return RivalVerdict::slower;
  return RivalVerdict::tie;
}

}  // namespace kiln
