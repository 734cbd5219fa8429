// Spaces far too large to list: counted, indexed, sampled and searched like small ones.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/space.hpp"
#include "search/strategy.hpp"
#include "tests/search/small_variant.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::StartsWith;

using test::is_legal_config;
using test::small_variant;
using test::up_to;

const std::vector<std::int64_t> kPowers = {1, 2, 4, 8, 16, 32, 64, 128};

// Twelve constraints over eighteen tunables: a matrix product with everything tunable.
Variant large_variant() {
  return small_variant(
      {{"tile_m", kPowers},
       {"tile_n", kPowers},
       {"tile_k", kPowers},
       {"warp_m", kPowers},
       {"warp_n", kPowers},
       {"vector_a", {1, 2, 4, 8}},
       {"vector_b", {1, 2, 4, 8}},
       {"stages", up_to(8)},
       {"split", up_to(16)},
       {"swizzle", up_to(8)},
       {"unroll", up_to(16)},
       {"pad_a", {0, 1, 2, 4, 8}},
       {"pad_b", {0, 1, 2, 4, 8}},
       {"cache_a", {0, 1}},
       {"cache_b", {0, 1}},
       {"threads", {32, 64, 128, 256, 512}},
       {"blocks", up_to(4)},
       {"order", {0, 1, 2}}},
      {"tile_m % warp_m == 0", "tile_n % warp_n == 0", "tile_k % vector_a == 0",
       "tile_k % vector_b == 0", "32 <= (tile_m // warp_m) * (tile_n // warp_n) <= 1024",
       "stages * tile_k * ((tile_m + pad_a) + (tile_n + pad_b)) * 4 <= 102400",
       "unroll <= tile_k and tile_k % unroll == 0", "split == 1 or stages > 1",
       "cache_a == 1 or pad_a == 0", "cache_b == 1 or pad_b == 0", "blocks * threads <= 1024",
       "swizzle == 1 or order != 2"});
}

TEST(SpaceLarge, CountsWhatCannotBeListed) {
  const Space space = Space::build(large_variant());
  const VariantReport& report = space.report().variants.front();
  EXPECT_GT(report.combinations, std::uint64_t{1'000'000'000'000});
  EXPECT_TRUE(space.is_exact());
  EXPECT_GT(space.size(), std::size_t{1'000'000'000});
  EXPECT_LT(report.bytes, std::size_t{1} << 24);
}

TEST(SpaceLarge, SamplesLegalConfigsThatHaveTheirIndex) {
  const Variant variant = large_variant();
  const Space space = Space::build(variant);
  Random random(1);
  std::set<std::size_t> different;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t index = *space.sample(random);
    ASSERT_LT(index, space.size());
    different.insert(index);
    if (i % 10 != 0) continue;
    const Config config = space.at(index);
    ASSERT_TRUE(is_legal_config(variant, config)) << config.text();
    ASSERT_EQ(space.index_of(config), index);
  }
  EXPECT_GT(different.size(), 9'990u);
}

TEST(SpaceLarge, NeighboursAreLegalAndMutual) {
  const Variant variant = large_variant();
  const Space space = Space::build(variant);
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    const std::size_t index = *space.sample(random);
    const std::vector<std::size_t> near = space.neighbours(index, Neighbourhood::hamming);
    EXPECT_FALSE(near.empty());
    for (const std::size_t neighbour : near) {
      ASSERT_TRUE(is_legal_config(variant, space.at(neighbour)));
      const auto back = space.neighbours(neighbour, Neighbourhood::hamming);
      ASSERT_NE(std::find(back.begin(), back.end(), index), back.end());
    }
  }
}

TEST(SpaceLarge, IsSearchedByEveryStrategyButExhaustive) {
  const Space space = Space::build(large_variant());
  for (const StrategyInfo& info : strategies()) {
    if (info.name == "exhaustive") continue;
    SCOPED_TRACE(info.name);
    const auto strategy = make_strategy(info.name, space, 1);
    std::set<std::size_t> asked;
    for (int i = 0; i < 60; ++i) {
      const auto index = strategy->ask();
      ASSERT_TRUE(index.has_value());
      ASSERT_LT(*index, space.size());
      Trial trial;
      trial.config = space.at(*index);
      trial.outcome = Outcome::ok;
      trial.time_ns = 1000 + static_cast<double>(*index % 997);
      strategy->tell(*index, trial);
      asked.insert(*index);
    }
    EXPECT_EQ(asked.size(), 60u);
  }
}

TEST(SpaceLarge, ExhaustiveRefusesIt) {
  const Space space = Space::build(large_variant());
  const std::string error =
      test::error_of<UsageError>([&] { return make_strategy("exhaustive", space, 1); });
  EXPECT_THAT(error, StartsWith("exhaustive tries every config, and there are "));
}

TEST(SpaceLarge, TakesLessThanAByteATunableAndConfig) {
  // Little to share: a sum over everything must hit a window.
  const Variant variant =
      small_variant({{"a", up_to(12)}, {"b", up_to(12)}, {"c", up_to(12)}, {"d", up_to(12)}},
                    {"100 <= (a * 7 + b * 13) ** 2 % 1009 + (c * 31 + d * 11) ** 2 % 757 <= 900"});
  const Space space = Space::build(variant);
  ASSERT_EQ(space.size(), test::legal_configs(variant).size());
  EXPECT_LE(space.report().bytes(), space.size() * variant.tunables.size());
}

TEST(SpaceLarge, MoreThanAnIndexCanNameIsRefused) {
  std::vector<test::SmallTunable> tunables;
  for (int t = 0; t < 20; ++t) tunables.push_back({"t" + std::to_string(t), up_to(16)});
  EXPECT_EQ(test::error_of<InputError>([&] { return Space::build(small_variant(tunables, {})); }),
            "the space holds more than 2^63 configs; add constraints, or leave out values");
}

// Pearson's statistic of draws against a uniform distribution over the legal configs.
double chi_square(const Space& space, const Variant& variant, int draws) {
  std::map<std::string, int> counts;
  for (const std::string& config : test::legal_configs(variant)) counts[config] = 0;
  const std::size_t cells = counts.size();
  Random random(5);
  for (int i = 0; i < draws; ++i) ++counts[space.at(*space.sample(random)).text()];
  EXPECT_EQ(counts.size(), cells) << "a draw that is not legal";
  const double expected = static_cast<double>(draws) / static_cast<double>(cells);
  double sum = 0;
  for (const auto& [config, count] : counts)
    sum += (count - expected) * (count - expected) / expected;
  // In standard deviations from its mean.
  const auto freedom = static_cast<double>(cells - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

Variant uneven_variant() {
  return small_variant({{"a", up_to(8)}, {"b", up_to(8)}, {"c", {0, 1}}, {"d", up_to(3), "c == 1"}},
                       {"a * b <= 14", "c == 0 or a % d == 0"});
}

TEST(SpaceLarge, SamplesUniformly) {
  const Space space = Space::build(uneven_variant());
  EXPECT_LT(std::abs(chi_square(space, uneven_variant(), 20'000)), 4);
}

TEST(SpaceLarge, SamplesUniformlyWhereRulesAreCheckedLate) {
  const Space space = Space::build(uneven_variant(), {.variants = {}, .max_states = 20});
  EXPECT_FALSE(space.is_exact());
  EXPECT_LT(std::abs(chi_square(space, uneven_variant(), 20'000)), 4);
  const VariantReport& report = space.report().variants.front();
  const auto legal = static_cast<double>(test::legal_configs(uneven_variant()).size());
  EXPECT_NEAR(static_cast<double>(report.configs), legal, legal / 5) << "an estimate";
}

}  // namespace
}  // namespace kiln
