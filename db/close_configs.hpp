// Close configs: the configs of a session that came near its best. The evidence of a best holds
// them. So the bests of several problems show which configs are good for all of them, without the
// trials.
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

/// This many of the first trials are kept too, however slow they were. Sessions of similar problems
/// begin with the same configs, so these are measured everywhere. The close configs of a long
/// session are its own.
inline constexpr std::int64_t kFirstTrials = 64;

/// Read at most this many entries per list. Kiln writes fewer; the cap keeps an imported row from
/// slowing every lookup near it.
inline constexpr std::size_t kMaxListed = 96;

/// A config and its time as a multiple of the best of its problem (at least 1).
struct CloseConfig {
  std::string config;
  double slowdown = 1;
  /// Reported by the compiler; below 0 if the row does not say.
  std::int64_t registers = -1;     ///< per thread
  std::int64_t shared_bytes = -1;  ///< per block, static
};

/// Returns the trials close to the fastest one, in order of time. They point into `trials`.
[[nodiscard]] std::vector<const TrialRecord*> close_trials(const std::vector<TrialRecord>& trials);

/// Adds two lists to `evidence` (JSON as in BestRecord): "close", the configs of `trials` close to
/// the fastest one, and "first", those of the other first trials. Each config has its relative
/// time, its registers and its shared memory. Both lists are in order of time.
[[nodiscard]] std::string with_close_configs(const std::string& evidence,
                                             const std::vector<TrialRecord>& trials);

/// Returns the configs of a row: its best first (slowdown 1), then its finalists and close configs,
/// each config once. If the evidence cannot be read, only the best.
[[nodiscard]] std::vector<CloseConfig> close_configs(const BestRecord& best);
/// Like close_configs(), followed by the first trials. Those are for comparison; a lookup does not
/// return them.
[[nodiscard]] std::vector<CloseConfig> known_configs(const BestRecord& best);

}  // namespace kiln
