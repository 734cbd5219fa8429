// From the trials of a session to its best: who enters the finals, and what their samples say.
// Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/metrics.hpp"
#include "db/store.hpp"
#include "tuner/measure_options.hpp"
#include "tuner/verdict.hpp"

namespace kiln {

inline constexpr std::size_t kMaxFinalists = 3;  ///< beside the default config

/// Configs that may take part in the semi-finals, and their rounds: enough to tell differences of a
/// per cent where runs are short, for those are noisy.
inline constexpr std::size_t kMaxContenders = 32;
inline constexpr FinalsOptions kSemiFinals = {4, 24, 0.25e9};

struct Finalists {
  std::vector<const TrialRecord*> trials;    ///< the default config first, then by sequence number
  std::optional<std::size_t> default_index;  ///< 0, or nullopt when the default config was not ok
};

/// The best trial and others whose samples overlap with its own, fastest first, at most `most` and
/// without the default config. Empty when no other trial was ok. Points into `trials`.
[[nodiscard]] std::vector<const TrialRecord*> choose_contenders(
    const std::vector<TrialRecord>& trials, const Config& default_config, std::size_t most);

/// Positions of contenders that ran in turn, `scores[contender][round]`, best first: by the median
/// ratio to the median of the same round, so that drift hits all alike.
[[nodiscard]] std::vector<std::size_t> rank_rounds(const std::vector<std::vector<double>>& scores);

/// The default config and the first kMaxFinalists of `contenders`, which point into `trials`. Empty
/// when no trial was ok.
[[nodiscard]] Finalists choose_finalists(const std::vector<TrialRecord>& trials,
                                         const Config& default_config,
                                         const std::vector<const TrialRecord*>& contenders);

/// Takes the finalist at `index` out.
void remove_finalist(Finalists& finalists, std::size_t index);

/// The finals as JSON, for people and tests: each finalist's config, sequence number and samples.
[[nodiscard]] std::string evidence_text(const Finalists& finalists,
                                        const std::vector<std::vector<double>>& samples);

/// The same for another objective than time: each finalist's value, and its rounds' values beside
/// their times. `scores[finalist][round]` as in tuner/scoring.hpp.
[[nodiscard]] std::string evidence_text(const Finalists& finalists,
                                        const std::vector<std::vector<double>>& ns,
                                        const Objective& objective,
                                        const std::vector<std::vector<double>>& scores);

}  // namespace kiln
