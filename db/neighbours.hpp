// A config for a problem between tuned ones: the one that the tuned problems around together expect
// the most of. The winner of a session is an accident among those that came close; a config that
// is good for all problems around is more likely to be good between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "db/candidates.hpp"
#include "db/close_configs.hpp"
#include "db/kriging.hpp"

namespace kiln {

/// What the tuned problems around say about one that was never tuned.
struct Neighbourhood {
  /// All that any of them measured, each once. The first `eligible` may be the answer: the close
  /// configs of the nearest problem, its fastest first, then those of the next.
  std::vector<std::string> configs;
  std::size_t eligible = 0;
  /// Between the problems; the first is the one asked for.
  Distances distances;
  /// What was measured, carried over to the problem asked for (tiles.hpp).
  std::vector<Observation> observations;

  [[nodiscard]] std::size_t problems() const {
    return distances.empty() ? 0 : distances.size() - 1;
  }
};

/// Of `candidates`, the nearest first and none of this very problem on this device, those that are
/// within reach. Rows of one problem on one device speak together.
[[nodiscard]] Neighbourhood neighbourhood_of(const KernelSpec& spec, const Problem& problem,
                                             const DeviceInfo& device,
                                             std::span<const Candidate> candidates);

/// At most this many problems have a say, and none further away than this many times the nearest,
/// which counts as at least `kNearest` away here. Further ones would add nothing: what they say
/// weighs by their distance (kriging.hpp).
inline constexpr std::size_t kMaxNeighbours = 8;
inline constexpr double kReach = 3;
inline constexpr double kNearest = 0.5;

/// So many of the fastest close configs of each are eligible.
inline constexpr std::size_t kMaxConfigs = kMaxClose;
/// Of each so many of the fastest are known at all, some more than one session tells: there may be
/// any number of sessions of one problem, and every two configs are compared.
inline constexpr std::size_t kMaxKnown = 128;

struct ExpectedConfig {
  std::string config;
  double slowdown = 1;  ///< as a multiple of the best time of the problem asked for
};

/// The eligible configs, the least expected slowdown first: the forecast (kriging.hpp), and
/// `kDoubt` of its standard deviation on top. Ties keep the order of the configs.
[[nodiscard]] std::vector<ExpectedConfig> rank_configs(const Neighbourhood& neighbourhood);

/// Of two that are expected to be as fast, the one of which more is known.
inline constexpr double kDoubt = 0.5;

}  // namespace kiln
