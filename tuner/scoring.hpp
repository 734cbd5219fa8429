// Scoring: trials and finals by the objective of a session.
//
// Strategies and the rule of the finals know one thing: a positive number of which less is better.
// For the objective "time" that is the time; for every other one it is the score of its value
// (core/metrics.hpp). Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/metrics.hpp"

namespace kiln {

class Scoring {
 public:
  /// Throws InputError when `spec`, which must outlive it, has no such objective.
  Scoring(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device,
          const std::string& objective)
      : objective_(find_objective(spec, objective)), metrics_(spec, problem, device) {}

  [[nodiscard]] const Objective& objective() const { return objective_; }
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }

  /// nullopt: the trial is not ok, or the objective has no value for it.
  [[nodiscard]] std::optional<double> score(const Trial& trial) const;

  /// The trial as a strategy is to see it: time_ns is the score. Without a score it is a failure,
  /// for it can never win.
  [[nodiscard]] Trial told(const Trial& trial) const;

  /// Scores of a finalist's rounds. `trial` is its trial in the search; `ns` and `energy_j` (may be
  /// empty) are of the rounds. Empty when a round has no score.
  [[nodiscard]] std::vector<double> scores(const Trial& trial, const std::vector<double>& ns,
                                           const std::vector<double>& energy_j) const;

 private:
  Objective objective_;
  Metrics metrics_;
};

}  // namespace kiln
