// Scoring: trials and finals by the objective of a session.
//
// Strategies and the finals use one positive number; less is better. For the objective "time" it is
// the time, for every other objective the score of its value (core/metrics.hpp). Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/metrics.hpp"

namespace kiln {

class Scoring {
 public:
  /// Throws InputError when the setting's spec, which must outlive it, has no such objective.
  Scoring(const Setting& setting, const std::string& objective)
      : objective_(find_objective(setting.spec(), objective)), metrics_(setting) {}

  [[nodiscard]] const Objective& objective() const { return objective_; }
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }

  /// nullopt: the trial is not ok, or the objective has no value for it.
  [[nodiscard]] std::optional<double> score(const Trial& trial) const;

  /// Returns the trial for a strategy: time_ns is the score. A trial without a score becomes a
  /// failure, since it can never win.
  [[nodiscard]] Trial told(const Trial& trial) const;

  /// Scores of a finalist's rounds. `trial` is its trial in the search; `ns` and `energy_j` (may be
  /// empty) are those of the rounds. Empty if a round has no score.
  [[nodiscard]] std::vector<double> scores(const Trial& trial, const std::vector<double>& ns,
                                           const std::vector<double>& energy_j) const;

 private:
  Objective objective_;
  Metrics metrics_;
};

}  // namespace kiln
