// Candidates: the bests that can answer for a problem on a device, the most similar first.
//
// Lookups (lookup.hpp) choose from them, and sessions (warm_start.hpp) start from them. Pure: works
// on rows already read. Private to lookup/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/result.hpp"
#include "core/setting.hpp"
#include "db/records.hpp"
#include "lookup/likeness.hpp"
#include "lookup/lookup.hpp"

namespace kiln {

/// A best, and how well it matches.
struct Candidate {
  const BestRecord* best = nullptr;
  Grade grade = Grade::fallback;
  Likeness likeness;
  Problem measured;                ///< the row's problem
  std::string problem;             ///< its short text
  std::vector<std::string> stale;  ///< what changed since the row was measured
  double handicap = 0;             ///< added to the distance when ranking
  double staleness = 0;            ///< the handicap's part for staleness, relative to a fresh row
};

/// The devices whose bests are candidates.
enum class Devices {
  /// Devices of the same backend and vendor. A lookup uses only these.
  alike,
  /// Also other GPUs for a GPU, and other CPUs for a CPU. Their bests are worth a trial, no more:
  /// they come last, with Grade::fallback.
  any,
};

/// Returns the bests of the kernel that match this problem on this device at any grade, in the
/// order in which a lookup tries them. They point into `bests`. Does not check whether their
/// configs are legal here. A row of the other timing is a candidate only if its problem and device
/// have no row of `timing`. It then ranks like a row of a problem further away.
[[nodiscard]] std::vector<Candidate> ranked_candidates(const Setting& setting,
                                                       std::span<const BestRecord> bests,
                                                       Devices devices = Devices::alike,
                                                       Timing timing = Timing::eager);

}  // namespace kiln
