// Kriging: forecasts the slowdown of a config on an untuned problem from measurements of the same
// and similar configs on nearby problems.
//
// The logarithm of a slowdown is a Gaussian process over configs and problems. The correlation of
// two points is e^-(steps / kStepsApart + doublings / kDoublingsApart), with the steps between the
// configs and the doublings between the problems. Measurements are observations with noise. A
// forecast is the expectation given all observations (Krige, 1951; Rasmussen, Williams: "Gaussian
// Processes for Machine Learning", 2006, chapter 2). Many measurements of nearly the same point
// count little more than one, and a distant measurement counts almost nothing.
//
// Pure. Private to lookup/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lookup/config_place.hpp"

namespace kiln {

/// A config and a problem, as indices into lists.
struct Site {
  std::size_t config = 0;
  std::size_t problem = 0;
};

struct Observation {
  Site site;
  double slowdown = 1;
  double noise = 0;  ///< standard deviation of its logarithm
};

struct SlowdownForecast {
  double log_slowdown = 0;
  double deviation = 0;  ///< standard deviation of it
};

/// Doublings between each two problems, symmetric, 0 in the diagonal.
using Distances = std::vector<std::vector<double>>;

/// The steps, and the doublings, at which the correlation has fallen to 1/e
/// (docs/results/chosen_numbers.md has the reasons).
inline constexpr double kStepsApart = 2;
inline constexpr double kDoublingsApart = 2;
/// The expected slowdown where nothing is known, and its spread. Half of the configs without a
/// similar config nearby were more than twice as slow as the best.
inline constexpr double kUnknownSlowdown = 2;
inline constexpr double kSpread = 0.45;  ///< standard deviation of the logarithm
/// A larger slowdown counts as this one.
inline constexpr double kSlowest = 4;
/// Use at most this many observations, the most informative ones. A forecast takes O(n^3) once and
/// O(n^2) per site.
inline constexpr std::size_t kMaxObservations = 256;

/// Returns the forecasts for `asked`, in that order. Sites hold indices into `configs` and
/// `distances`. Slowdowns must be above 0.
[[nodiscard]] std::vector<SlowdownForecast> krige(std::span<const ConfigPlace> configs,
                                                  const Distances& distances,
                                                  std::span<const Observation> observations,
                                                  std::span<const Site> asked);

}  // namespace kiln
