// Moves, budgets, values in use.
// SPDX-License-Identifier: Apache-2.0
#include "search/moves.hpp"

#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "search/budget.hpp"
#include "search/value_counts.hpp"
#include "small_variant.hpp"
#include "tests/search/small_variant.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::small_variant;
using test::up_to;

// Steps between configs that strategies share.

Variant named(std::string name, Variant variant) {
  variant.name = std::move(name);
  return variant;
}

/// The second variant has other tiles, one tunable more, and no room for large tiles but one.
KernelSpec twins() {
  KernelSpec spec;
  spec.name = "twins";
  spec.variants = {
      named("one", small_variant({{"tile", {8, 16, 32, 64}}, {"threads", {32, 64, 128}}}, {})),
      named("other",
            small_variant({{"splits", {4, 2}}, {"tile", {128, 16, 32}}, {"threads", {128, 64, 32}}},
                          {"tile * threads <= 2048 or tile == 128"}))};
  return spec;
}

TEST(Moves, ACounterpartTakesOverWhatBothVariantsKnow) {
  const KernelSpec spec = twins();
  const Problem problem = Problem::parse(spec, "");
  const DeviceInfo device = device_for_architecture("cuda", "sm_80");
  const Space space = Space::build({spec, problem, device});
  Random random(1);
  const auto like = [&](const std::string& text, std::size_t variant) {
    const auto index = space.index_of(Setting(spec, problem, device).parse(text));
    return space.at(*counterpart(space, *index, variant, random)).text();
  };
  EXPECT_EQ(like("one:tile=32,threads=64", 1), "other:splits=4,tile=32,threads=64");
  EXPECT_EQ(like("other:splits=2,tile=16,threads=128", 0), "one:tile=16,threads=128");
  EXPECT_EQ(like("one:tile=8,threads=64", 1), "other:splits=4,tile=128,threads=64")
      << "it has no tile of 8";
  EXPECT_EQ(like("one:tile=32,threads=128", 1), "other:splits=4,tile=128,threads=128")
      << "a tile of 32 is too much there";
}

// Budgets: the first limit reached ends the session, and a budget of nothing is refused.

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

// How many values a register may have: what the order of a space's tunables is chosen by.

TEST(ValueCounts, ValuesThatATunablesOwnRulesRefuseAreNotCounted) {
  const Variant variant = small_variant(
      {{"width", up_to(1000)}, {"depth", up_to(10)}},
      {"width <= 128", "doubled % 64 == 0", "width * depth <= 256"}, {{"doubled", "width * 2"}});
  const RuleSet rules(variant, Scope{}, nullptr);
  ValueCounts counts(rules);
  EXPECT_EQ(counts.of(rules.variables()[0].reg), 4);  // 32, 64, 96, 128
  EXPECT_EQ(counts.of(rules.variables()[1].reg), 10);
}

TEST(ValueCounts, ResultsOfFewCombinationsAreCounted) {
  const Variant variant =
      small_variant({{"a", {1, 2, 3, 4}}, {"b", {1, 2, 4}}}, {"a * b <= 8", "a != 3"});
  const RuleSet rules(variant, Scope{}, nullptr);
  ValueCounts counts(rules);
  for (const Rule& rule : rules.rules()) {
    EXPECT_LE(counts.of(rule.operands.front().reg), 2) << "a rule holds or it does not";
  }
  EXPECT_EQ(counts.of(rules.variables()[0].reg), 3);
}

TEST(ValueCounts, ATunableThatMayBeAbsentHasAbsenceAsAValue) {
  const Variant variant =
      small_variant({{"padded", {0, 1}}, {"pad", {1, 2, 4}, "padded == 1"}}, {"pad < 4"});
  const RuleSet rules(variant, Scope{}, nullptr);
  ValueCounts counts(rules);
  EXPECT_EQ(counts.of(rules.variables()[1].reg), 3);  // 1, 2, absent
}

TEST(ValueCounts, ATunableWithoutALegalValueStillCountsOne) {
  const Variant variant = small_variant({{"width", {8, 16}}}, {"width > 16"});
  const RuleSet rules(variant, Scope{}, nullptr);
  EXPECT_EQ(ValueCounts(rules).of(rules.variables()[0].reg), 1);
}

}  // namespace
}  // namespace kiln
