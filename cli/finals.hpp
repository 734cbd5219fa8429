// What the finals of a session said, read back from the evidence of its best, in words and numbers
// for people.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "db/evidence.hpp"
#include "db/store.hpp"
#include "tuner/rules/verdict.hpp"

namespace kiln::cli {

/// The finalists in the order of the evidence. Empty where there were none, and where the evidence,
/// which others may have written, cannot be read.
[[nodiscard]] inline std::vector<Finalist> finalists_of(const BestRecord& best) {
  return read_evidence(best.evidence).finalists;
}

/// Bounds of the median of `ns` at 99% confidence; nullopt: too few rounds.
[[nodiscard]] std::optional<RatioInterval> median_interval(const std::vector<double>& ns);

/// "1.34x over the default config (1.33x to 1.36x, 99% sure)": the median of what the rounds of the
/// finals say, and its bounds; without them, the ratio of the two times. Empty: no default config
/// to compare with.
[[nodiscard]] std::string gain_text(const BestRecord& best, const std::vector<Finalist>& finalists);

/// The verdict in a word or two: "better", "tie"; "no default" where the default config has no time
/// to compare with, "so far" where the session has not finished.
[[nodiscard]] std::string verdict_text(const BestRecord& best);

/// The same in the colour of a good, a doubtful or a bad answer.
[[nodiscard]] std::string verdict_text(const BestRecord& best, const Screen& screen);

/// How much the times of finals and search can be trusted, as a sentence on what to do about it;
/// empty: nothing to tell.
[[nodiscard]] std::string noise_remark(const std::vector<Finalist>& finalists,
                                       const std::vector<TrialRecord>& trials);

}  // namespace kiln::cli
