// Compares the samples of a config with the incumbent and with the required precision.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/stop_rule.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/statistics.hpp"

namespace kiln {
namespace {

// For normal samples: sigma = 1.4826 * MAD, and the median's standard error is 1.2533 * sigma /
// sqrt(n).
constexpr double kSigmaPerMad = 1.4826;
constexpr double kMedianError = 1.2533;

bool is_clearly_slower(std::span<const double> ns, double incumbent_ns,
                       const StopOptions& options) {
  if (incumbent_ns <= 0) return false;
  const double fastest = *std::min_element(ns.begin(), ns.end());
  const std::size_t count = std::min(ns.size(), options.drop_factors.size());
  return fastest > options.drop_factors[count - 1] * incumbent_ns;
}

}  // namespace

double relative_error_of_median(std::span<const double> ns) {
  if (ns.size() < 3) return 1;
  const double middle = median({ns.begin(), ns.end()});
  if (middle <= 0) return 1;
  std::vector<double> deviations;
  deviations.reserve(ns.size());
  for (const double sample : ns) deviations.push_back(std::abs(sample - middle));
  const double sigma = kSigmaPerMad * median(std::move(deviations));
  return kMedianError * sigma / std::sqrt(static_cast<double>(ns.size())) / middle;
}

StopDecision decide(std::span<const double> ns, double spent_ns, double incumbent_ns,
                    const StopOptions& options) {
  if (ns.empty()) return StopDecision::more;
  if (is_clearly_slower(ns, incumbent_ns, options)) return StopDecision::dropped;
  if (ns.size() >= options.behind_samples && incumbent_ns > 0 &&
      median({ns.begin(), ns.end()}) >= incumbent_ns)
    return StopDecision::enough;
  if (ns.size() < options.min_samples)
    return spent_ns >= options.most_ns ? StopDecision::enough : StopDecision::more;
  if (ns.size() >= options.max_samples || spent_ns >= options.max_ns) return StopDecision::enough;
  return relative_error_of_median(ns) <= options.relative_error ? StopDecision::enough
                                                                : StopDecision::more;
}

}  // namespace kiln
