// Finalists: selects the configs for the finals from a session's trials, and describes the result.
// Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/metrics.hpp"
#include "db/evidence.hpp"
#include "db/records.hpp"
#include "tuner/rules/measure_options.hpp"
#include "tuner/rules/verdict.hpp"

namespace kiln {

inline constexpr std::size_t kMaxFinalists = 3;  ///< in addition to the default config

/// The limits of the semi-finals: configs and rounds. Enough to find differences of one per cent
/// for short runs, which are noisy.
inline constexpr std::size_t kMaxContenders = 32;
inline constexpr FinalsOptions kSemiFinals = {4, 24, 0.25e9};

struct Finalists {
  std::vector<const TrialRecord*> trials;    ///< the default config first, then by sequence number
  std::optional<std::size_t> default_index;  ///< 0, or nullopt when the default config was not ok
};

/// Returns the best trial and those whose samples overlap its own, the fastest first: at most
/// `most`, without the default config. Empty if no other trial was ok. Points into `trials`.
[[nodiscard]] std::vector<const TrialRecord*> choose_contenders(
    const std::vector<TrialRecord>& trials, const Config& default_config, std::size_t most);

/// Ranks contenders that ran in turn by `scores[contender][round]`. Returns their positions, best
/// first, by the median of the ratio to the median of the same round. So drift cancels.
[[nodiscard]] std::vector<std::size_t> rank_rounds(const std::vector<std::vector<double>>& scores);

/// Returns the default config and the first kMaxFinalists of `contenders`, which point into
/// `trials`. Empty if no trial was ok.
[[nodiscard]] Finalists choose_finalists(const std::vector<TrialRecord>& trials,
                                         const Config& default_config,
                                         const std::vector<const TrialRecord*>& contenders);

/// Removes the finalist at `index`.
void remove_finalist(Finalists& finalists, std::size_t index);

/// Returns the finals as evidence: each finalist with its sequence number and samples.
[[nodiscard]] Evidence evidence_of(const Finalists& finalists,
                                   const std::vector<std::vector<double>>& samples);

/// The same for another objective than time: each finalist's value, and its rounds' values beside
/// their times. `scores[finalist][round]` as in tuner/rules/scoring.hpp.
[[nodiscard]] Evidence evidence_of(const Finalists& finalists,
                                   const std::vector<std::vector<double>>& ns,
                                   const Objective& objective,
                                   const std::vector<std::vector<double>>& scores);

}  // namespace kiln
