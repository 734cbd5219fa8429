// Chooses a config for a problem between tuned ones: the config with the best forecast from all
// nearby tuned problems. The winner of one session is one of many close configs by chance. A config
// that is good for all nearby problems is more likely to be good between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/setting.hpp"
#include "db/close_configs.hpp"
#include "lookup/candidates.hpp"
#include "lookup/kriging.hpp"

namespace kiln {

/// The measurements of nearby tuned problems, for a problem that was never tuned.
struct NearbyBests {
  /// All configs that any nearby problem measured, each once. The first `eligible` may be the
  /// answer: the close configs of the nearest problem, the fastest first, then those of the next.
  std::vector<std::string> configs;
  std::size_t eligible = 0;
  /// Between the problems, in doublings. The first problem is the queried one.
  Distances distances;
  /// Measured slowdowns, converted to the queried problem (tiles.hpp).
  std::vector<Observation> observations;

  [[nodiscard]] std::size_t problems() const {
    return distances.empty() ? 0 : distances.size() - 1;
  }
};

/// Selects the candidates within reach. `candidates` are sorted, the nearest first, without rows of
/// the setting's problem on its device. Rows of one problem on one device count as one neighbour.
[[nodiscard]] NearbyBests neighbourhood_of(const Setting& setting,
                                           std::span<const Candidate> candidates);

/// Use at most `kMaxNeighbours` problems, and none further away than `kReach` times the nearest.
/// The nearest counts as at least `kNearest` doublings away here. Further problems would add
/// nothing: their measurements weigh by distance (kriging.hpp).
inline constexpr std::size_t kMaxNeighbours = 8;
inline constexpr double kReach = 3;
inline constexpr double kNearest = 0.5;

/// The number of fastest close configs of each problem that are eligible.
inline constexpr std::size_t kMaxConfigs = kMaxClose;
/// Keep at most this many configs per problem: comparing them is quadratic. One session has fewer,
/// but a problem may have any number of sessions.
inline constexpr std::size_t kMaxKnown = 128;

struct ExpectedConfig {
  std::string config;
  double slowdown = 1;  ///< as a multiple of the queried problem's best time
};

/// Returns the eligible configs, the smallest expected slowdown first: the forecast (kriging.hpp)
/// plus `kDoubt` times its standard deviation. Ties keep the order of the configs.
[[nodiscard]] std::vector<ExpectedConfig> rank_configs(const NearbyBests& neighbourhood);

/// Prefers the better-known of two configs with equal forecasts.
inline constexpr double kDoubt = 0.5;

}  // namespace kiln
