// Close configs: the configs of a session that came near its best. The evidence of a best holds
// them. So the bests of several problems show which configs are good for all of them, without the
// trials.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "db/evidence.hpp"
#include "db/records.hpp"

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

/// Returns the trials close to the fastest one, in order of time. They point into `trials`.
[[nodiscard]] std::vector<const TrialRecord*> close_trials(const std::vector<TrialRecord>& trials);

/// Sets the lists `close` and `first` of `evidence`: the configs of `trials` close to the fastest
/// one, and those of the other first trials, with their registers and shared memory.
void add_close_configs(Evidence& evidence, const std::vector<TrialRecord>& trials);

/// Returns the configs of a row: its best first (slowdown 1), then its finalists and close configs,
/// each config once. If the evidence cannot be read, only the best.
[[nodiscard]] std::vector<CloseConfig> close_configs(const BestRecord& best);
/// Like close_configs(), followed by the first trials. Those are for comparison; a lookup does not
/// return them.
[[nodiscard]] std::vector<CloseConfig> known_configs(const BestRecord& best);

}  // namespace kiln
