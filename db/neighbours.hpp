// A config for a problem between tuned ones: the one that the tuned problems around together expect
// the most of. The winner of a session is an accident among those that came close; a config that
// is good for all problems around is more likely to be good between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "db/candidates.hpp"
#include "db/close_configs.hpp"

namespace kiln {

/// What a tuned problem says of a config, carried over to the problem asked for.
struct Statement {
  std::string config;
  double slowdown = 1;
  double say = 1;  ///< as a multiple of what the problem's distance gives it
};

/// A tuned problem near the one asked for.
struct Neighbour {
  double distance = 0;              ///< in doublings; above 0
  std::vector<Statement> measured;  ///< on it, the fastest first
  std::vector<Statement> inferred;  ///< not measured on it: what configs like these would do
};

/// The problems that have a say about one that was never tuned: of `candidates`, the nearest first,
/// those of the grade of the first one that are within reach. Rows of one problem speak together;
/// of eligible configs that they did not measure they tell what configs like these did
/// (alike_configs.hpp), and both is carried over to `problem` (tiles.hpp).
[[nodiscard]] std::vector<Neighbour> neighbours_of(const KernelSpec& spec, const Problem& problem,
                                                   const DeviceInfo& device,
                                                   std::span<const Candidate> candidates);

/// At most this many neighbours have a say, and none further away than this many times the nearest,
/// which counts as at least `kNearest` away here.
inline constexpr std::size_t kMaxNeighbours = 6;
inline constexpr double kReach = 3;
inline constexpr double kNearest = 0.5;

/// So many of the fastest close configs of each are eligible. A lookup costs the evaluation of a
/// grid for each on every one of these problems.
inline constexpr std::size_t kMaxConfigs = kMaxClose;

struct ExpectedConfig {
  std::string config;
  double slowdown = 1;  ///< expected time as a multiple of the best of the problem asked for
};

/// The configs that were measured on a neighbour, the least expected slowdown first: the mean of
/// the logarithms of the slowdowns, weighted by 1 / distance^2 (inverse distance weighting, Shepard
/// 1968), what was inferred by `kInferredSay` of that, and `kDoubt` of their standard deviation on
/// top. Of a neighbour that tells nothing of a config, `kUnknownSlowdown` is taken with
/// `kUnknownSay`. Ties keep the order of the neighbours, nearest first.
[[nodiscard]] std::vector<ExpectedConfig> rank_configs(std::span<const Neighbour> neighbours);

/// A config that a problem did not measure, nor anything like it, is taken for this much slower
/// than the best: what configs with nothing alike around them were, half of the times (matmul 2.0,
/// histogram and convolution 3 to 4; docs/lookup.md).
inline constexpr double kUnknownSlowdown = 2;
/// What that weighs against a measurement.
inline constexpr double kUnknownSay = 0.5;
/// What one measurement of the config itself weighs against one that was inferred.
inline constexpr double kInferredSay = 0.7;
/// No config is expected to beat all that was measured on a problem by more than this.
inline constexpr double kLeastSlowdown = 0.7;
/// Where neighbours disagree about a config, one of them is wrong about it.
inline constexpr double kDoubt = 0.4;

}  // namespace kiln
