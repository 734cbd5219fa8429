// What follows a search: the semi-finals choose the finalists where many configs are close, whoever
// may win or be handed out is proven, the finalists run in turn, and the best is made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/finalists.hpp"
#include "tuner/pipeline.hpp"
#include "tuner/published_best.hpp"
#include "tuner/scoring.hpp"
#include "tuner/session.hpp"
#include "tuner/session_log.hpp"

namespace kiln {

struct FinalsEnd {
  bool stopped = false;            ///< by request: there is no best then
  std::optional<BestRecord> best;  ///< nullopt: no config was right to the end
};

class SessionFinals {
 public:
  /// All must outlive it; nothing may be in flight in `pipeline`.
  SessionFinals(const TuneRequest& request, SessionObserver& observer, const Scoring& scoring,
                const SessionLog& log, TrialPipeline& pipeline, const Config& default_config)
      : request_(request),
        observer_(observer),
        scoring_(scoring),
        log_(log),
        pipeline_(pipeline),
        default_config_(default_config) {}

  [[nodiscard]] FinalsEnd run();

 private:
  /// Who may win and what may be handed out with it.
  struct Field {
    std::vector<TrialRecord> trials;  ///< without those that failed a check at the end
    std::vector<TrialRecord> judged;  ///< the same as the choice of finalists sees them
    Finalists finalists;              ///< points into `judged`
  };
  void judge(Field& field) const;
  /// The contenders of the judged field run in turn where they are more than there are finalists;
  /// their texts, best first. Those that gave a wrong result are taken out of the field. Empty:
  /// there was no need, or they could not be measured. nullopt: stopped.
  [[nodiscard]] std::optional<std::vector<std::string>> run_semi_finals(Field& field);
  /// By their rank in the semi-finals; by the samples of the search where there were none.
  [[nodiscard]] Finalists choose(const Field& field, const std::vector<std::string>& ranking) const;
  /// nullopt: stopped. All finalists and close configs have passed every check.
  [[nodiscard]] std::optional<Field> choose_proven();
  /// nullopt: stopped. Finalists that gave a wrong result are taken out.
  [[nodiscard]] std::optional<FinalsRounds> measure_finalists(Finalists& finalists);

  const TuneRequest& request_;
  SessionObserver& observer_;
  const Scoring& scoring_;
  const SessionLog& log_;
  TrialPipeline& pipeline_;
  const Config& default_config_;
};

}  // namespace kiln
