// Candidates: the bests that may say something about a problem on a device, the likeliest first.
//
// What lookups (lookup.hpp) choose from and sessions start from (warm_start.hpp). Pure: works on
// rows already read. Private to db.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/result.hpp"
#include "db/likeness.hpp"
#include "db/lookup.hpp"
#include "db/store.hpp"

namespace kiln {

/// A best, and how it matches.
struct Candidate {
  const BestRecord* best = nullptr;
  Grade grade = Grade::fallback;
  Likeness likeness;
  Problem measured;                ///< the row's problem
  std::string problem;             ///< its short text
  std::vector<std::string> stale;  ///< what changed since the row was measured
  double handicap = 0;             ///< added to the distance when ranking
  double staleness = 0;            ///< what of that it would be beside a row that is not stale
};

/// Bests of which devices are candidates?
enum class Devices {
  alike,  ///< of the same backend and vendor: what a lookup trusts
  any,    ///< also of other GPUs for a GPU, of other CPUs for a CPU: worth a trial, no more; they
          ///< come last, with Grade::fallback
};

/// All bests of the kernel that match this problem on this device somehow, in the order in which a
/// lookup asks them. They point into `bests`. Whether their configs are legal here is not looked
/// at.
[[nodiscard]] std::vector<Candidate> ranked_candidates(const KernelSpec& spec,
                                                       const Problem& problem,
                                                       const DeviceInfo& device,
                                                       std::span<const BestRecord> bests,
                                                       Devices devices = Devices::alike);

/// A stored config as the spec reads today: tunables added since it was stored take their defaults.
/// Legal means launchable: the rules of the spec and the limits of the device. A Failure says why
/// it is not.
[[nodiscard]] Result<Config> legal_config(const KernelSpec& spec, const std::string& text,
                                          const Problem& problem, const DeviceInfo& device);

}  // namespace kiln
