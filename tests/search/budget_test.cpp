// Budgets: the first limit reached ends the session, and a budget of nothing is refused.
// SPDX-License-Identifier: Apache-2.0
#include "search/budget.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

std::string refusal(const Budget& budget) {
  return test::error_of<UsageError>([&] { check(budget); });
}

TEST(Budget, WithoutLimitsIsNeverExhausted) {
  EXPECT_EQ(Budget{}.exhausted({1e9, 1'000'000'000, 1'000'000'000}), std::nullopt);
}

TEST(Budget, EndsAtEachLimit) {
  Budget budget;
  budget.seconds = 60;
  budget.trials = 100;
  budget.no_progress_trials = 20;
  EXPECT_EQ(budget.exhausted({59.9, 99, 19}), std::nullopt);
  EXPECT_EQ(budget.exhausted({60, 1, 1}), BudgetLimit::seconds);
  EXPECT_EQ(budget.exhausted({1, 100, 1}), BudgetLimit::trials);
  EXPECT_EQ(budget.exhausted({1, 30, 20}), BudgetLimit::no_progress);
}

TEST(Budget, EndsAtASpeedUpThatIsGoodEnough) {
  Budget budget;
  budget.target = 2;
  EXPECT_EQ(budget.exhausted({.seconds = 1, .trials = 2, .speedup = 1.9}), std::nullopt);
  EXPECT_EQ(budget.exhausted({.seconds = 1, .trials = 2, .speedup = 2}), BudgetLimit::target);
  EXPECT_EQ(refusal({.target = 1.0}), "a target of 1x is no speed-up; give a number above 1");
}

TEST(Budget, OfNothingIsRefused) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.seconds = 0.1, .trials = 1, .no_progress_trials = 1}), "");
  EXPECT_EQ(refusal({.seconds = 0.0, .trials = {}, .no_progress_trials = {}}),
            "a budget of 0 s leaves no time for a single trial; give a number above 0");
  EXPECT_EQ(refusal({.seconds = {}, .trials = 0, .no_progress_trials = {}}),
            "a budget of 0 trials allows no trial; set at least 1");
  EXPECT_EQ(refusal({.seconds = {}, .trials = {}, .no_progress_trials = -1}),
            "stopping after -1 trials without progress allows none; give at least 1");
  EXPECT_NE(refusal({.seconds = std::numeric_limits<double>::quiet_NaN(),
                     .trials = {},
                     .no_progress_trials = {}}),
            "");
}

}  // namespace
}  // namespace kiln
