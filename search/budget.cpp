// SPDX-License-Identifier: Apache-2.0
#include "search/budget.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln {

std::optional<BudgetLimit> Budget::exhausted(const Progress& progress) const {
  if (seconds && progress.seconds >= *seconds) return BudgetLimit::seconds;
  if (trials && progress.trials >= *trials) return BudgetLimit::trials;
  if (no_progress_trials && progress.trials_without_progress >= *no_progress_trials) {
    return BudgetLimit::no_progress;
  }
  return std::nullopt;
}

void check(const Budget& budget) {
  if (budget.seconds && !(*budget.seconds > 0 && std::isfinite(*budget.seconds))) {
    throw UsageError(
        fmt::format("a budget of {} s leaves no time for a single trial; give a number "
                    "above 0",
                    *budget.seconds));
  }
  if (budget.trials && *budget.trials < 1) {
    throw UsageError(
        fmt::format("a budget of {} trials allows no trial; set at least 1", *budget.trials));
  }
  if (budget.no_progress_trials && *budget.no_progress_trials < 1) {
    throw UsageError(
        fmt::format("stopping after {} trials without progress allows none; give at "
                    "least 1",
                    *budget.no_progress_trials));
  }
}

std::string describe(BudgetLimit limit, const Budget& budget) {
  switch (limit) {
    case BudgetLimit::seconds:
      return fmt::format("{} s used", budget.seconds.value_or(0));
    case BudgetLimit::trials:
      return fmt::format("{} trials done", budget.trials.value_or(0));
    case BudgetLimit::no_progress:
      break;
  }
  return fmt::format("{} trials without progress", budget.no_progress_trials.value_or(0));
}

std::string_view name_of(BudgetLimit limit) {
  switch (limit) {
    case BudgetLimit::seconds:
      return "seconds";
    case BudgetLimit::trials:
      return "trials";
    case BudgetLimit::no_progress:
      break;
  }
  return "no_progress";
}

}  // namespace kiln
