// Close configs: those of a session that came near its best. With them in the evidence, the bests
// of several problems tell which configs are good for all of them, without their trials.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln {

/// Configs up to this factor slower than the best are close, and at most this many are kept.
inline constexpr double kCloseFactor = 1.25;
inline constexpr std::size_t kMaxClose = 24;

/// So many of the first trials are kept, too, however slow they were: sessions of like problems
/// begin alike, so that these are known of all. The close ones of a long session are its own.
inline constexpr std::int64_t kFirstTrials = 64;

/// Of each list of a row so many entries are read, more than Kiln ever writes: a row may come from
/// a stranger, and every lookup near it pays for each config that it names.
inline constexpr std::size_t kMaxListed = 96;

/// A config and its time as a multiple of the best of its problem (at least 1).
struct CloseConfig {
  std::string config;
  double slowdown = 1;
  /// What the compiler said; below 0 where the row does not tell.
  std::int64_t registers = -1;     ///< of a thread
  std::int64_t shared_bytes = -1;  ///< of a block, static
};

/// The trials whose configs are close to the fastest one, in order of time; points into `trials`.
[[nodiscard]] std::vector<const TrialRecord*> close_trials(const std::vector<TrialRecord>& trials);

/// `evidence` (JSON as in BestRecord) with the configs of `trials` that are close to the fastest
/// one as its key "close", each with its time relative to that and what it needs of a compute unit,
/// in order of time; those of the other first trials likewise as its key "first".
[[nodiscard]] std::string with_close_configs(const std::string& evidence,
                                             const std::vector<TrialRecord>& trials);

/// What a row says of configs for its problem: its best first (slowdown 1), then its finalists and
/// close configs, each config once. Evidence that cannot be read leaves the best alone.
[[nodiscard]] std::vector<CloseConfig> close_configs(const BestRecord& best);
/// The same, and behind them those of the first trials: to compare with, not to hand out.
[[nodiscard]] std::vector<CloseConfig> known_configs(const BestRecord& best);

}  // namespace kiln
