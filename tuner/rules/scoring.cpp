// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/scoring.hpp"

#include <fmt/format.h>

namespace kiln {

std::optional<double> Scoring::score(const Trial& trial) const {
  if (!trial.ok()) return std::nullopt;
  if (objective_.is_time()) return trial.time_ns;
  const std::optional<double> value = metrics_.value(objective_, trial);
  return value ? std::optional(objective_.score(*value)) : std::nullopt;
}

Trial Scoring::told(const Trial& trial) const {
  if (objective_.is_time() || !trial.ok()) return trial;
  Trial told = trial;
  if (const std::optional<double> known = score(trial)) {
    told.time_ns = *known;
  } else {
    told.outcome = Outcome::constraint;
    told.message = fmt::format("the objective '{}' has no value for it", objective_.name);
    told.time_ns = 0;
  }
  return told;
}

std::vector<double> Scoring::scores(const Trial& trial, const std::vector<double>& ns,
                                    const std::vector<double>& energy_j) const {
  if (objective_.is_time()) return ns;
  std::vector<double> scores;
  Trial round = trial;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    round.time_ns = ns[i];
    if (i < energy_j.size()) round.metrics[std::string(kEnergyObjective)] = energy_j[i];
    const std::optional<double> known = score(round);
    if (!known) return {};
    scores.push_back(*known);
  }
  return scores;
}

}  // namespace kiln
