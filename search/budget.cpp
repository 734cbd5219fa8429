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
  if (target && progress.speedup >= *target) return BudgetLimit::target;
  return std::nullopt;
}

void check(const Budget& budget) {
  if (budget.seconds && !(*budget.seconds > 0 && std::isfinite(*budget.seconds))) {
    throw UsageError(
        fmt::format("a budget of {} s leaves no time for a single trial; give a number above 0",
                    *budget.seconds));
  }
  if (budget.trials && *budget.trials < 1) {
    throw UsageError(
        fmt::format("a budget of {} trials allows no trial; set at least 1", *budget.trials));
  }
  if (budget.no_progress_trials && *budget.no_progress_trials < 1) {
    throw UsageError(
        fmt::format("stopping after {} trials without progress allows none; give at least 1",
                    *budget.no_progress_trials));
  }
  if (budget.target && !(*budget.target > 1 && std::isfinite(*budget.target))) {
    throw UsageError(
        fmt::format("a target of {}x is no speed-up; give a number above 1", *budget.target));
  }
}

}  // namespace kiln
