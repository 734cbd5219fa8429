// When to stop sampling a config: pure arithmetic on the samples taken so far.
//
// The protocol (tuner/device/measure.hpp) takes samples, and this rule evaluates them. Tests feed
// it invented samples. docs/measurement.md has the reasons for the constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/fields.hpp"

namespace kiln {

struct StopOptions {
  /// The least number of samples. Even, since every second run may be slower (measure.hpp).
  std::size_t min_samples = 6;
  /// The largest number of samples, however noisy a config is: possible winners are measured again
  /// after the search.
  std::size_t max_samples = 24;
  std::size_t behind_samples = 4;  ///< enough if the config does not lead; even, too
  /// Sampling ends at this standard error of the median, relative to the median.
  double relative_error = 0.005;
  double max_ns = 0.3e9;   ///< time limit for one config; min_samples has priority
  double most_ns = 1.5e9;  ///< time limit with priority over min_samples: of runs of seconds
  /// A config is clearly slower if the fastest of its 1, 2, 3, 4 or more samples is this many times
  /// slower.
  std::array<double, 4> drop_factors = {1.2, 1.08, 1.05, 1.03};
};

KILN_FIELDS(StopOptions, min_samples, max_samples, behind_samples, relative_error, max_ns, most_ns,
            drop_factors);

enum class StopDecision { more, enough, dropped };

/// `ns`: samples so far; `spent_ns`: the time they took; `incumbent_ns`: the best median known, 0:
/// none.
[[nodiscard]] StopDecision decide(std::span<const double> ns, double spent_ns, double incumbent_ns,
                                  const StopOptions& options);

/// Standard error of the median relative to the median, from the median absolute deviation, so that
/// a few wild samples do not count. 1 for fewer than three samples.
[[nodiscard]] double relative_error_of_median(std::span<const double> ns);

}  // namespace kiln
