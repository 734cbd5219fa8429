// Spaces against the plain listing of every combination, over rules of many shapes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/space.hpp"
#include "tests/search/small_variant.hpp"

namespace kiln {
namespace {

using test::legal_configs;
using test::small_variant;
using test::up_to;
using ::testing::ElementsAre;

struct Shape {
  const char* name;
  Variant variant;
};

std::vector<Shape> shapes() {
  const std::vector<test::SmallTunable> abc = {{"a", {1, 2, 4, 8}}, {"b", up_to(6)}, {"c", {0, 1}}};
  const std::vector<test::SmallTunable> six = {{"a", {1, 2, 4, 8}}, {"b", up_to(5)}, {"c", {0, 1}},
                                               {"d", up_to(6)},     {"e", {16, 32}}, {"f", {3}}};
  const std::vector<test::SmallTunable> whens = {{"mode", {0, 1, 2}},
                                                 {"depth", {1, 2, 4}, "mode > 0"},
                                                 {"pad", {0, 1}, "mode == 2 and depth > 1"},
                                                 {"width", up_to(6)}};
  return {
      {"no rules", small_variant(abc, {})},
      {"no tunables", small_variant({}, {})},
      {"one rule", small_variant(abc, {"a * b <= 12"})},
      {"true division and Python modulo",
       small_variant(six, {"d % ((a * b) / e) == 0", "(0 - a) % d != 1"})},
      {"a chain", small_variant(six, {"8 <= a * b * d <= 64", "a < b <= d"})},
      {"a disjunction over everything",
       small_variant(six, {"a != 8 or b != 5 or c == 0 or d != 6 or e != 32"})},
      {"conjunctions that refuse early", small_variant(six, {"a > 1 and b < d and e // a >= f"})},
      {"membership", small_variant(six, {"a * b in [4, 8, 10]", "d not in (1, 2)"})},
      {"choices", small_variant(six, {"(a if c else b) <= d", "(e if a > b else d) % 2 == 0"})},
      {"a guarded division", small_variant(abc, {"c == 0 or a % (b - 1) == 0"})},
      {"a division that fails", small_variant(abc, {"a % (b - 1) == 0"})},
      {"a rule without truth", small_variant(abc, {"a + b"})},
      {"numbers as truth", small_variant(abc, {"c", "not c or a == 1"})},
      {"overflow", small_variant(abc, {"(a * b) ** 16 > 0"})},
      {"nothing is legal", small_variant(abc, {"a < 4", "a >= 4"})},
      {"a constant that is false", small_variant(abc, {"1 > 2"})},
      {"derived values", small_variant(six, {"area <= 20", "spread > 0"},
                                       {{"area", "a * b"}, {"spread", "area - d * c"}})},
      {"a derived value that fails", small_variant(abc, {"a > 0"}, {{"ratio", "a // (b - 3)"}})},
      {"absent tunables", small_variant(whens, {"depth * width <= 8", "pad == 0 or width > 2"})},
      {"an absent tunable guards a fault",
       small_variant(whens, {"depth == 1 and width % (width - 1) == 0 and mode < 2"})},
      {"an absent tunable in a choice", small_variant(whens, {"(depth if mode else 1) < width"})},
      {"a `when` that fails", small_variant({{"a", {0, 1, 2}}, {"b", {1, 2}, "4 // a > 2"}}, {})},
      {"long products in the wrong order",
       small_variant(
           {{"e", {1, 3}}, {"d", up_to(4)}, {"c", {2, 4}}, {"b", up_to(5)}, {"a", up_to(4)}},
           {"a * b * c * d * e <= 60", "a + b + c + d + e > 9"})},
  };
}

std::set<std::string> texts(const Space& space) {
  std::set<std::string> all;
  for (std::size_t i = 0; i < space.size(); ++i) all.insert(space.at(i).text());
  return all;
}

TEST(SpaceExact, HoldsWhatTheListingHolds) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const std::vector<std::string> legal = legal_configs(shape.variant);
    if (legal.empty()) {
      EXPECT_THROW((void)Space::build(shape.variant), InputError);
      continue;
    }
    const Space space = Space::build(shape.variant);
    EXPECT_TRUE(space.is_exact());
    EXPECT_EQ(space.size(), legal.size());
    EXPECT_EQ(texts(space), std::set<std::string>(legal.begin(), legal.end()));
    for (std::size_t i = 0; i < space.size(); ++i) ASSERT_EQ(space.index_of(space.at(i)), i);
  }
}

// Too few states for any rule over several tunables: all of them are checked late.
TEST(SpaceExact, HoldsTheSameWhereRulesAreCheckedLate) {
  for (const Shape& shape : shapes()) {
    const std::vector<std::string> legal = legal_configs(shape.variant);
    if (legal.empty()) continue;
    SCOPED_TRACE(shape.name);
    const Space space = Space::build(shape.variant, {.variants = {}, .max_states = 10});
    std::set<std::string> found;
    for (std::size_t i = 0; i < space.size(); ++i) {
      const Config config = space.at(i);
      EXPECT_EQ(space.index_of(config).has_value(), space.is_legal(i)) << config.text();
      if (space.is_legal(i)) found.insert(config.text());
    }
    EXPECT_EQ(found, std::set<std::string>(legal.begin(), legal.end()));
    for (const std::size_t start : space.default_indices()) EXPECT_TRUE(space.is_legal(start));
    for (const std::size_t near : space.neighbours(space.default_index(), Neighbourhood::hamming)) {
      EXPECT_TRUE(space.is_legal(near));
    }
  }
}

TEST(SpaceExact, EveryNeighbourDiffersInOneTunable) {
  const Variant variant = small_variant(
      {{"e", {1, 3}}, {"d", up_to(4)}, {"c", {2, 4}}, {"b", up_to(5)}, {"a", up_to(4)}},
      {"a * b * c * d * e <= 60", "a + b + c + d + e > 9"});
  const Space space = Space::build(variant);
  const auto differences = [&](std::size_t i, std::size_t j) {
    const Config a = space.at(i);
    const Config b = space.at(j);
    int count = 0;
    for (std::size_t t = 0; t < a.values.size(); ++t) count += a.values[t] != b.values[t] ? 1 : 0;
    return count;
  };
  for (std::size_t i = 0; i < space.size(); ++i) {
    std::set<std::size_t> expected;
    for (std::size_t j = 0; j < space.size(); ++j) {
      if (differences(i, j) == 1) expected.insert(j);
    }
    const std::vector<std::size_t> found = space.neighbours(i, Neighbourhood::hamming);
    ASSERT_EQ(std::set<std::size_t>(found.begin(), found.end()), expected);
    ASSERT_EQ(found.size(), expected.size());
  }
}

TEST(SpaceExact, CutsAndConfigsAddUpToTheCombinations) {
  const Variant variant =
      small_variant({{"a", {1, 2, 4, 8}}, {"b", up_to(5)}, {"c", {0, 1}}, {"d", up_to(6)}},
                    {"a * b <= 12", "d % a == 0", "c == 0 or d > 2", "b > 0"});
  const VariantReport report = explain_space(variant).variants.front();
  EXPECT_EQ(report.combinations, 4u * 5 * 2 * 6);
  std::uint64_t cut = 0;
  for (const RuleReport& rule : report.rules) cut += rule.cut;
  EXPECT_EQ(cut + report.configs, report.combinations);
  EXPECT_EQ(report.rules.back().cut, 0u) << "b > 0 refuses nothing";
}

TEST(SpaceExact, TellsItsOrderAndIndependentParts) {
  const Variant variant = small_variant(
      {{"a", up_to(4)}, {"x", up_to(3)}, {"b", up_to(4)}, {"one", {7}}, {"y", up_to(3)}},
      {"a <= b", "x * one != y"});
  const VariantReport report = explain_space(variant).variants.front();
  EXPECT_THAT(report.order, ElementsAre("a", "b", "x", "y"));
  EXPECT_THAT(report.parts, ElementsAre(2, 2));
  EXPECT_EQ(report.configs, 10u * 9);
  EXPECT_TRUE(report.exact);
}

TEST(SpaceExact, AFaultNamesTheRuleAndItsValues) {
  const Variant variant = small_variant({{"a", up_to(3)}, {"b", {0, 2}}}, {"a % b == 0"});
  const VariantReport report = explain_space(variant).variants.front();
  EXPECT_EQ(report.configs, 1u);
  EXPECT_EQ(report.rules.front().first_fault, "division by zero at column 3 of 'a % b == 0'");
}

}  // namespace
}  // namespace kiln
