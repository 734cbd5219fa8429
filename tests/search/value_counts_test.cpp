// How many values a register may have: what the order of a space's tunables is chosen by.
// SPDX-License-Identifier: Apache-2.0
#include "search/value_counts.hpp"

#include <gtest/gtest.h>

#include "tests/search/small_variant.hpp"

namespace kiln {
namespace {

using test::small_variant;
using test::up_to;

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
