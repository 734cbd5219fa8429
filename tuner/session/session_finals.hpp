// SessionFinals: the end of a session. If many configs are close, the semi-finals choose the
// finalists. All configs that may win or be returned by a lookup are checked. The finalists run in
// turn, and the best is made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/rules/finalists.hpp"
#include "tuner/rules/scoring.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/session/published_best.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/session_log.hpp"

namespace kiln {

struct FinalsEnd {
  bool stopped = false;            ///< stopped by request; there is no best then
  std::optional<BestRecord> best;  ///< nullopt if no config passed all checks; without evidence
  Evidence evidence;               ///< of the best: the finals
};

class SessionFinals {
 public:
  /// All must outlive it; nothing may be in flight in `pipeline`.
  SessionFinals(const TuneRequest& request, SessionObserver& observer, const Scoring& scoring,
                SessionLog& log, TrialPipeline& pipeline, const Config& default_config)
      : request_(request),
        observer_(observer),
        scoring_(scoring),
        log_(log),
        pipeline_(pipeline),
        default_config_(default_config) {}

  [[nodiscard]] FinalsEnd run();

 private:
  /// The configs that may win, and those that a lookup may return.
  struct Field {
    std::vector<TrialRecord> trials;  ///< without the configs that failed a check at the end
    std::vector<TrialRecord> judged;  ///< the same trials, as the choice of finalists sees them
    Finalists finalists;              ///< points into `judged`
  };
  void judge(Field& field) const;
  /// If there are more contenders than finalists, runs them in turn and returns their texts, best
  /// first. Removes contenders with a wrong result from the field. Returns an empty list if there
  /// was no need, or if they could not be measured; nullopt if stopped.
  [[nodiscard]] std::optional<std::vector<std::string>> run_semi_finals(Field& field);
  /// Ranks by the semi-finals, or by the samples of the search if there were none.
  [[nodiscard]] Finalists choose(const Field& field, const std::vector<std::string>& ranking) const;
  /// nullopt: stopped. All finalists and close configs have passed every check.
  [[nodiscard]] std::optional<Field> choose_proven();
  /// Runs the naive config in turn with the best. Its time is the best's time in the finals, times
  /// the ratio of the two. It takes no part in the finals, where a slow config would disturb the
  /// finalists. If one run takes too long, or fails, its time of the search is kept.
  void measure_naive(const Finalists& finalists, BestRecord& best) const;
  /// Runs the best in turn with the library of TuneOptions::against, in both cache modes. nullopt:
  /// the library did not run, which the observer is told, or it was stopped.
  [[nodiscard]] std::optional<Evidence::Rival> measure_rival(const Config& best) const;
  /// Returns nullopt if stopped. Removes finalists with a wrong result.
  [[nodiscard]] std::optional<FinalsRounds> measure_finalists(Finalists& finalists);

  const TuneRequest& request_;
  SessionObserver& observer_;
  const Scoring& scoring_;
  SessionLog& log_;
  TrialPipeline& pipeline_;
  const Config& default_config_;
};

}  // namespace kiln
