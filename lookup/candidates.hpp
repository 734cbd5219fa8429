// Candidates: the bests that can answer for a problem on a device, the most similar first.
//
// Lookups (lookup.hpp) choose from them, and sessions (warm_start.hpp) start from them. Pure: works
// on rows already read. Private to lookup/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/result.hpp"
#include "core/setting.hpp"
#include "db/records.hpp"
#include "lookup/likeness.hpp"
#include "lookup/lookup.hpp"
#include "lookup/source_check.hpp"

namespace kiln {

/// A best, and how well it matches.
struct Candidate {
  const BestRecord* best = nullptr;
  Grade grade = Grade::fallback;
  Likeness likeness;
  Problem measured;                  ///< the row's problem
  std::string problem;               ///< its short text
  std::vector<std::string> stale;    ///< what changed since the row was measured
  double handicap = 0;               ///< added to the distance when ranking
  double staleness = 0;              ///< the handicap's part for staleness, relative to a fresh row
  std::optional<bool> changed = {};  ///< the kernel's source has; nullopt: not checked
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

/// Checks the source of the first candidate and notes a change in `stale`. If it has changed, but
/// the source of one of the next `kMostChecked` - 1 has not, the changed ones count as 4 doublings
/// further away. Returns what has changed if another candidate comes first now, otherwise "". If
/// all of them have changed, they answer as they did when they were measured. Rows of a lock keep
/// their order. `candidates` are sorted and not empty. A first candidate that was checked before
/// stays.
[[nodiscard]] std::string demote_changed(std::span<Candidate> candidates, SourceCheck& sources);

/// Each check renders a kernel.
inline constexpr std::size_t kMostChecked = 4;

}  // namespace kiln
