// A config for a problem between tuned ones: of those that tie for the best of the nearest one, the
// one that the other neighbours think most of. The winner of a tie is an accident; a config that is
// good for all problems around is more likely to be good between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/close_configs.hpp"

namespace kiln {

/// A tuned problem near the one asked for.
struct Neighbour {
  double distance = 0;  ///< in doublings; above 0
  std::vector<CloseConfig> configs;
};

/// At most this many neighbours have a say, and none further away than this many times the nearest.
inline constexpr std::size_t kMaxNeighbours = 4;
inline constexpr double kReach = 3;

struct ExpectedConfig {
  std::string config;
  double slowdown = 1;  ///< expected time as a multiple of the best of the problem asked for
};

/// A config that was this much slower than the best of the nearest problem is out of the question:
/// closer than what a measurement tells apart, the other neighbours decide.
inline constexpr double kTieWithBest = 1.03;

/// Configs that tie with the best of the first, nearest neighbour, the least expected slowdown
/// first: the mean of the logarithms of the slowdowns, weighted by 1 / distance^2 (inverse distance
/// weighting, Shepard 1968). Of a neighbour that does not name a config, `kUnknownSlowdown` is
/// taken. Ties keep the order of the nearest.
[[nodiscard]] std::vector<ExpectedConfig> rank_configs(std::span<const Neighbour> neighbours);

/// A config that is not among the close ones was slower than those, or never tried.
inline constexpr double kUnknownSlowdown = 1.5;

}  // namespace kiln
