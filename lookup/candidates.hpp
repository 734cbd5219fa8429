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

/// Whose bests are candidates.
enum class Devices {
  alike,  ///< of the same backend and vendor: what a lookup trusts
  any,    ///< also of other GPUs for a GPU, of other CPUs for a CPU: worth a trial, no more; they
          ///< come last, with Grade::fallback
};

/// Returns the bests of the kernel that match this problem on this device at any grade, in the
/// order in which a lookup tries them. They point into `bests`. Does not check whether their
/// configs are legal here. A row of another timing than `timing` is a candidate only where its
/// problem and device have no row of this timing, and goes behind rows of this timing as a problem
/// further away does.
[[nodiscard]] std::vector<Candidate> ranked_candidates(const Setting& setting,
                                                       std::span<const BestRecord> bests,
                                                       Devices devices = Devices::alike,
                                                       Timing timing = Timing::eager);

}  // namespace kiln
