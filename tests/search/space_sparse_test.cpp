// Spaces of which few combinations are legal, counted exactly or by samples.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/space.hpp"
#include "search/strategy.hpp"
#include "strategy_names.hpp"
#include "tests/search/small_variant.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::legal_configs;
using test::small_variant;
using test::up_to;
using ::testing::ElementsAre;

// Spaces that are too large to count and hold few legal configs: looking for one has to end, and to
// find those that can be found.

constexpr std::string_view kNames = "abcdefghijkl";
constexpr std::int64_t kFactors[] = {1000003,   7368787,   10000019,  15485863,
                                     32452843,  49979687,  67867967,  86028121,
                                     104395301, 122949823, 141650939, 160481183};

// Ten values each: 10^12 combinations.
std::vector<test::SmallTunable> twelve_tunables() {
  std::vector<test::SmallTunable> tunables;
  for (const char name : kNames) tunables.push_back({std::string(1, name), up_to(10)});
  return tunables;
}

// As good as random, and every combination of the tunables has another sum, so that no state is
// shared.
std::string scramble(std::size_t first, std::size_t count) {
  std::string sum;
  for (std::size_t t = first; t < first + count; ++t) {
    sum += (sum.empty() ? "" : " + ") + std::string(1, kNames[t]) + " ** 3 * " +
           std::to_string(kFactors[t]);
  }
  return sum;
}

// A rule over each four neighbours: one of 10^12 / 14^9 = 50 combinations is legal, and a beginning
// tells early whether it leads anywhere.
Variant chained_variant() {
  std::vector<std::string> rules;
  for (std::size_t first = 0; first + 4 <= kNames.size(); ++first) {
    rules.push_back("(" + scramble(first, 4) + ") % 10007 < 715");
  }
  return small_variant(twelve_tunables(), rules);
}

// By trying values in order; the rules are computed here once more.
void list_chained(std::vector<std::int64_t>& values, std::set<std::string>& out) {
  if (values.size() >= 4) {
    std::int64_t sum = 0;
    for (std::size_t t = values.size() - 4; t < values.size(); ++t) {
      sum += values[t] * values[t] * values[t] * kFactors[t];
    }
    if (sum % 10007 >= 715) return;
  }
  if (values.size() == kNames.size()) {
    Config config{"small", {}};
    for (std::size_t t = 0; t < values.size(); ++t) {
      config.values.emplace_back(std::string(1, kNames[t]), values[t]);
    }
    out.insert(config.text());
    return;
  }
  for (std::int64_t value = 1; value <= 10; ++value) {
    values.push_back(value);
    list_chained(values, out);
    values.pop_back();
  }
}

std::set<std::string> chained_configs() {
  std::set<std::string> out;
  std::vector<std::int64_t> values;
  list_chained(values, out);
  return out;
}

// All values 1, the defaults, and no other that any search is likely to find.
Variant single_variant() {
  std::int64_t sum = 0;
  for (const std::int64_t factor : kFactors) sum += factor;
  return small_variant(twelve_tunables(),
                       {scramble(0, kNames.size()) + " == " + std::to_string(sum)});
}

// Few states: no rule over several tunables is looked at before a config is whole.
Space uncounted(const Variant& variant) {
  return Space::build(variant, {.variants = {}, .max_states = 2000});
}

Trial trial_of(const Space& space, std::size_t index) {
  Trial trial;
  trial.config = space.at(index);
  trial.outcome = Outcome::ok;
  trial.time_ns = 1000 + static_cast<double>(index % 997);
  return trial;
}

// Asks until there is nothing more.
std::set<std::string> all_asked(Strategy& strategy, const Space& space) {
  std::set<std::string> asked;
  while (const std::optional<std::size_t> index = strategy.ask()) {
    EXPECT_TRUE(asked.insert(space.at(*index).text()).second) << "twice";
    strategy.tell(*index, trial_of(space, *index));
  }
  return asked;
}

// Built once: that takes longer than searching them.
const Space& chained_space() {
  static const Space kSpace = uncounted(chained_variant());
  return kSpace;
}

const Space& single_space() {
  static const Space kSpace = uncounted(single_variant());
  return kSpace;
}

class EveryStrategyButExhaustive : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryStrategyButExhaustive, FindsTheFewLegalConfigsAndEnds) {
  const Space& space = chained_space();
  EXPECT_FALSE(space.is_exact());
  EXPECT_EQ(space.size(), 1'000'000'000'000u);
  EXPECT_EQ(all_asked(*make_strategy(GetParam(), space, 1), space), chained_configs());
}

TEST_P(EveryStrategyButExhaustive, EndsWhereNothingButTheDefaultIsFound) {
  const Space& space = single_space();
  EXPECT_FALSE(space.is_exact());
  const auto strategy = make_strategy(GetParam(), space, 1);
  EXPECT_EQ(all_asked(*strategy, space),
            std::set<std::string>{space.at(space.default_index()).text()});
  EXPECT_EQ(strategy->ask(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategyButExhaustive,
                         ::testing::ValuesIn(test::strategy_names({"exhaustive"})),
                         [](const auto& strategy) { return strategy.param; });

TEST(SpaceSparse, ScansLegalConfigsInOrder) {
  const Space& space = chained_space();
  Effort effort(10'000'000);
  std::set<std::string> found;
  Space::Range rest{0, space.size()};
  const auto any = [](std::size_t /*index*/) { return true; };
  while (const auto index = space.first_wanted(rest, any, effort)) {
    ASSERT_GE(*index, rest.first);
    EXPECT_TRUE(space.is_legal(*index));
    found.insert(space.at(*index).text());
    rest.first = *index + 1;
  }
  EXPECT_FALSE(effort.is_spent());
  EXPECT_EQ(found, chained_configs());
}

// The scan goes back to earlier values; the bounds that refuse beginnings must forget later ones.
TEST(SpaceSparse, ScansAllWhereBoundsRefuseBeginnings) {
  const std::vector<std::int64_t> a = {21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
  const std::vector<std::int64_t> b = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0};
  const std::vector<std::int64_t> c = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
  const std::vector<std::int64_t> d = up_to(20);
  std::set<std::string> legal;
  for (const std::int64_t of_a : a) {
    for (const std::int64_t of_b : b) {
      for (const std::int64_t of_c : c) {
        for (const std::int64_t of_d : d) {
          if (of_a + of_c + of_d != of_b * of_d + of_d) continue;
          legal.insert(
              Config{"small", {{"a", of_a}, {"b", of_b}, {"c", of_c}, {"d", of_d}}}.text());
        }
      }
    }
  }
  const Space space = Space::build(
      small_variant({{"a", a}, {"b", b}, {"c", c}, {"d", d}}, {"a + c + d == b * d + d"}),
      {.variants = {}, .max_states = 20});
  Effort effort(10'000'000);
  std::set<std::string> found;
  Space::Range rest{0, space.size()};
  const auto any = [](std::size_t /*index*/) { return true; };
  while (const auto index = space.first_wanted(rest, any, effort)) {
    found.insert(space.at(*index).text());
    rest.first = *index + 1;
  }
  EXPECT_FALSE(legal.empty());
  EXPECT_EQ(found, legal);
}

TEST(SpaceSparse, SamplesNothingWhereDrawsFindNothing) {
  const Space& space = single_space();
  Random random(1);
  Effort draws(1000);
  EXPECT_EQ(space.sample(random, {0, space.size()}, draws), std::nullopt);
  EXPECT_TRUE(draws.is_spent());
}

TEST(SpaceSparse, KnowsAtLeastTheDefault) {
  const Space& space = single_space();
  EXPECT_TRUE(space.is_legal(space.default_index()));
  EXPECT_EQ(space.report().configs(), 1u);
}

TEST(SpaceSparse, RefusesASpaceOfWhichNoConfigIsFound) {
  EXPECT_EQ(
      test::error_of<InputError>([&] {
        return uncounted(small_variant(twelve_tunables(), {scramble(0, kNames.size()) + " == 1"}));
      }),
      "no config is legal:\n  small: its default config is not legal, and too few of its "
      "combinations are to find another one");
}

// Spaces against the plain listing of every combination, over rules of many shapes.

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
