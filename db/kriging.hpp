// Kriging: what a config would take on a problem that nobody tuned, from what it and configs like
// it took on the problems around.
//
// The logarithm of a slowdown is taken for a Gaussian process over configs and problems: two of
// them are the more alike the fewer steps lie between the configs and the fewer doublings between
// the problems, as e^-(steps / kStepsApart + doublings / kDoublingsApart). What is known is
// observed with noise; the forecast of an unknown one is its expectation given all that is known
// (Krige, 1951; Rasmussen, Williams: "Gaussian Processes for Machine Learning", 2006, chapter 2).
// Many measurements of what is nearly the same count little more than one of them, and one of
// something far away nearly nothing: no rule says which of them has a say.
//
// Pure. Private to db.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "db/config_place.hpp"

namespace kiln {

/// A config and a problem, by their places in lists.
struct Site {
  std::size_t config = 0;
  std::size_t problem = 0;
};

struct Observation {
  Site site;
  double slowdown = 1;
  double noise = 0;  ///< standard deviation of its logarithm
};

struct Forecast {
  double log_slowdown = 0;
  double deviation = 0;  ///< standard deviation of it
};

/// Doublings between each two problems, symmetric, 0 in the diagonal.
using Distances = std::vector<std::vector<double>>;

/// How far apart two configs, and two problems, are that agree to 1/e (docs/lookup.md tells where
/// the numbers come from).
inline constexpr double kStepsApart = 2;
inline constexpr double kDoublingsApart = 2;
/// What is expected where nothing is known, and how far slowdowns are from that: half of the
/// configs with nothing alike around them were more than twice as slow as the best.
inline constexpr double kUnknownSlowdown = 2;
inline constexpr double kSpread = 0.45;  ///< standard deviation of the logarithm
/// What was slower still says "not this", whatever the number.
inline constexpr double kSlowest = 4;
/// At most so many observations are taken into account, those that tell most of what is asked: a
/// forecast takes O(n^3) once, and O(n^2) for each site.
inline constexpr std::size_t kMaxObservations = 256;

/// Forecasts for `asked`, in that order. Indices are those of `configs` and `distances`; slowdowns
/// are above 0.
[[nodiscard]] std::vector<Forecast> krige(std::span<const ConfigPlace> configs,
                                          const Distances& distances,
                                          std::span<const Observation> observations,
                                          std::span<const Site> asked);

}  // namespace kiln
