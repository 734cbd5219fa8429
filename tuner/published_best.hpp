// From the finals to what a session publishes: the winner, its verdict and the evidence. Private to
// the session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/finalists.hpp"
#include "tuner/scoring.hpp"
#include "tuner/session_log.hpp"

namespace kiln {

/// Rounds of the finalists, [finalist][round]; empty when they could not be measured.
struct FinalsRounds {
  std::vector<std::vector<double>> ns;
  std::vector<std::vector<double>> scores;  ///< as in tuner/scoring.hpp
};

/// The variant whose default config is the naive figure; nullptr: the spec has none.
[[nodiscard]] const Variant* naive_variant(const KernelSpec& spec);

/// `finalists`, of which there is one at least, were chosen among judged trials of `log`;
/// `candidates` are those of its trials that may be handed out. Where the finalists could not be
/// measured the samples of the search decide, and that is unmeasurable.
[[nodiscard]] BestRecord make_best(const TuneRequest& request, const Scoring& scoring,
                                   const SessionLog& log,
                                   const std::vector<TrialRecord>& candidates,
                                   const Finalists& finalists, const FinalsRounds& rounds);

}  // namespace kiln
