// Makes the best of a session from its finals: the winner, its verdict and the evidence. Private to
// the session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/rules/finalists.hpp"
#include "tuner/rules/scoring.hpp"
#include "tuner/session/session_log.hpp"

namespace kiln {

/// Rounds of the finalists, [finalist][round]; empty if they could not be measured.
struct FinalsRounds {
  std::vector<std::vector<double>> ns;
  std::vector<std::vector<double>> scores;  ///< as in tuner/rules/scoring.hpp
};

/// Returns the variant whose default config is the naive figure; nullptr if the spec has none.
[[nodiscard]] const Variant* naive_variant(const KernelSpec& spec);
/// Returns that default config; nullopt if the spec has none.
[[nodiscard]] std::optional<Config> naive_config(const Setting& setting);

/// Returns the evidence of the finals. `candidates`: the trials that a lookup may return. Close
/// configs are chosen by time, so another objective has none.
[[nodiscard]] Evidence finals_evidence(const Scoring& scoring,
                                       const std::vector<TrialRecord>& candidates,
                                       const Finalists& finalists, const FinalsRounds& rounds);

/// The best without its evidence. `finalists`: at least one, chosen among the judged trials of
/// `log`. If the finalists could not be measured, the samples of the search decide and the verdict
/// is unmeasurable.
[[nodiscard]] BestRecord make_best(const Scoring& scoring, const SessionLog& log,
                                   const Finalists& finalists, const FinalsRounds& rounds);

}  // namespace kiln
