// Spaces: exactly the legal configs, each with one index, and an explanation of what was cut.
// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"

namespace kiln {
namespace {

using test::example_spec;
using test::with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every combination of values, legal or not, by plain recursion.
void list_combinations(const Variant& variant, Config& config, std::vector<Config>& out) {
  const std::size_t t = config.values.size();
  if (t == variant.tunables.size()) {
    out.push_back(config);
    return;
  }
  for (const Value& value : variant.tunables[t].values) {
    config.values.emplace_back(variant.tunables[t].name, value);
    list_combinations(variant, config, out);
    config.values.pop_back();
  }
}

class SpaceTest : public ::testing::Test {
 protected:
  Space build(const SpaceOptions& options = {}) {
    return Space::build({spec_, problem_, device_}, options);
  }

  std::string build_error(const SpaceOptions& options = {}) {
    try {
      (void)build(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  void use(const std::string& text) { spec_ = parse_spec(text, "spec.toml"); }

  // The texts of all configs that Setting::plan() accepts.
  std::set<std::string> legal_configs() {
    std::set<std::string> texts;
    for (const Variant& variant : spec_.variants) {
      std::vector<Config> combinations;
      Config config{variant.name, {}};
      list_combinations(variant, config, combinations);
      for (Config& candidate : combinations) {
        // Tunables that do not exist are left out: several combinations become one config.
        const Value* padded = candidate.find("padded");
        if (padded != nullptr && *padded == Value(false)) candidate.values.pop_back();
        if (Setting(spec_, problem_, device_).plan(candidate)) texts.insert(candidate.text());
      }
    }
    return texts;
  }

  std::vector<std::string> texts_of(const Space& space, const std::vector<std::size_t>& indices) {
    std::vector<std::string> texts;
    for (const std::size_t index : indices) texts.push_back(space.at(index).text());
    return texts;
  }

  KernelSpec spec_ = example_spec();
  Problem problem_ = Problem::parse(spec_, "rows=1000");
  DeviceInfo device_ = device_for_architecture("cuda", "sm_80");
};

TEST_F(SpaceTest, HoldsExactlyTheLegalConfigs) {
  const Space space = build();
  std::set<std::string> listed;
  for (std::size_t i = 0; i < space.size(); ++i) listed.insert(space.at(i).text());
  EXPECT_EQ(listed.size(), space.size());
  EXPECT_EQ(listed, legal_configs());
  EXPECT_GT(space.size(), 30u);
}

TEST_F(SpaceTest, IndexAndConfigAreInverse) {
  const Space space = build();
  for (std::size_t i = 0; i < space.size(); ++i) EXPECT_EQ(space.index_of(space.at(i)), i);
  EXPECT_EQ(space.index_of({"naive", {{"block_x", std::int64_t{33}}}}), std::nullopt);
  EXPECT_EQ(space.index_of({"naive", {}}), std::nullopt);
  EXPECT_EQ(space.index_of({"wgmma", {}}), std::nullopt);
  EXPECT_THROW((void)space.at(space.size()), std::out_of_range);
}

TEST_F(SpaceTest, KnowsTheDefaults) {
  const Space space = build();
  EXPECT_EQ(space.at(space.default_index()), Setting(spec_, problem_, device_).default_config());
  EXPECT_THAT(texts_of(space, space.default_indices()),
              ElementsAre("tile:tile_rows=32,tile_cols=32,padded=true,pad=1", "naive:block_x=32"));
}

TEST_F(SpaceTest, LeavesOutVariantsThatAreNotPossible) {
  device_.max_threads_per_block = 128;
  const Space space = build();
  EXPECT_EQ(space.size(), 2u);
  EXPECT_EQ(space.at(space.default_index()).text(), "naive:block_x=32");
  EXPECT_EQ(space.report().variants.front().impossible,
            "not possible here: device.max_threads_per_block >= 256: 128 >= 256 is false");
}

TEST_F(SpaceTest, CanBeLimitedToSomeVariants) {
  const Space space = build({.variants = {"naive"}});
  EXPECT_EQ(space.size(), 2u);
  EXPECT_EQ(build_error({.variants = {"naiv"}}),
            "transpose has no variant 'naiv'; did you mean 'naive'? (it has: tile, naive)");
}

TEST_F(SpaceTest, VariantRangesPartitionTheIndices) {
  const Space space = build();
  const Space::Range tile = space.variant_range(0);
  const Space::Range naive = space.variant_range(space.size() - 1);
  EXPECT_EQ(tile.first, 0u);
  EXPECT_EQ(tile.last, naive.first);
  EXPECT_EQ(naive.last, space.size());
  EXPECT_EQ(space.at(tile.last - 1).variant, "tile");
  EXPECT_EQ(space.at(naive.first).variant, "naive");
}

TEST_F(SpaceTest, HammingNeighboursChangeOneTunable) {
  const Space space = build();
  const auto index = space.index_of(
      Setting(spec_, problem_, device_).parse("tile:tile_rows=16,tile_cols=16,padded=true,pad=1"));
  EXPECT_THAT(texts_of(space, space.neighbours(*index, Neighbourhood::hamming)),
              ElementsAre("tile:tile_rows=32,tile_cols=16,padded=true,pad=1",
                          "tile:tile_rows=64,tile_cols=16,padded=true,pad=1",
                          "tile:tile_rows=128,tile_cols=16,padded=true,pad=1",
                          "tile:tile_rows=16,tile_cols=32,padded=true,pad=1",
                          "tile:tile_rows=16,tile_cols=64,padded=true,pad=1",
                          "tile:tile_rows=16,tile_cols=128,padded=true,pad=1",
                          "tile:tile_rows=16,tile_cols=16,padded=false",
                          "tile:tile_rows=16,tile_cols=16,padded=true,pad=2"));
}

TEST_F(SpaceTest, TunablesThatAppearInANeighbourTakeTheirDefault) {
  const Space space = build();
  const auto index =
      space.index_of(Setting(spec_, problem_, device_).parse("tile:tile_rows=64,padded=false"));
  EXPECT_THAT(texts_of(space, space.neighbours(*index, Neighbourhood::hamming)),
              ::testing::Contains("tile:tile_rows=64,tile_cols=32,padded=true,pad=1"));
}

TEST_F(SpaceTest, AdjacentNeighboursStepOverIllegalValues) {
  use(with("because = \"wide padding is for large tiles\"",
           "because = \"wide padding is for large tiles\"\n[[variants.constraints]]\nrequire = "
           "\"tile_cols != 32 or tile_rows == 32\"\nbecause = \"a gap\""));
  const Space space = build();
  const auto index = space.index_of(
      Setting(spec_, problem_, device_).parse("tile:tile_rows=16,tile_cols=16,padded=true,pad=1"));
  EXPECT_THAT(texts_of(space, space.neighbours(*index, Neighbourhood::adjacent)),
              ElementsAre("tile:tile_rows=32,tile_cols=16,padded=true,pad=1",
                          "tile:tile_rows=16,tile_cols=64,padded=true,pad=1",
                          "tile:tile_rows=16,tile_cols=16,padded=false",
                          "tile:tile_rows=16,tile_cols=16,padded=true,pad=2"));
}

TEST_F(SpaceTest, NeighboursAreMutualWhereNoTunableAppears) {
  const Space space = build({.variants = {"naive"}});
  EXPECT_THAT(space.neighbours(0, Neighbourhood::hamming), ElementsAre(1));
  EXPECT_THAT(space.neighbours(1, Neighbourhood::hamming), ElementsAre(0));
}

TEST_F(SpaceTest, LaunchLimitsOfTheDeviceAreRulesToo) {
  use(with("block = [\"tile_cols\", 8]", "block = [\"tile_cols\", 16]"));
  const Space space = build();
  for (std::size_t i = 0; i < space.size(); ++i) {
    EXPECT_NE(space.at(i).text().find("naive") == 0 ? Value(std::int64_t{0})
                                                    : *space.at(i).find("tile_cols"),
              Value(std::int64_t{128}));
  }
  const auto& rules = space.report().variants.front().rules;
  const auto block = std::find_if(rules.begin(), rules.end(), [](const RuleReport& rule) {
    return rule.rule == "block of step 'transpose_tile'";
  });
  ASSERT_NE(block, rules.end());
  EXPECT_EQ(block->because,
            "the launch must stay within the device's limits: block = tile_cols x 16");
  EXPECT_EQ(block->cut, 4u * 2 * 3);  // the rows, and the padding behind them
}

TEST_F(SpaceTest, ThreadsOfADimensionAreARuleWhereTheDeviceLimitsThem) {
  use(with("grid = [\"ceil_div(cols, block_x)\", \"rows\"]\nblock = [\"block_x\"]",
           "grid = [\"rows\", \"cols\"]\nblock = [\"block_x\"]"));
  problem_ = Problem::parse(spec_, "rows=100000000,cols=1");
  EXPECT_EQ(build({.variants = {"naive"}}).size(), 2u);
  device_ = device_for_architecture("hip", "gfx90a");
  const Space space = build({.variants = {"naive"}});
  ASSERT_EQ(space.size(), 1u) << "64 threads a block are more than 2^32";
  EXPECT_EQ(space.at(0).text(), "naive:block_x=32");
  const RuleReport& rule = space.report().variants.front().rules.back();
  EXPECT_EQ(rule.rule, "threads x of step 'transpose_naive'");
  EXPECT_EQ(rule.cut, 1u);
}

TEST_F(SpaceTest, ReportCountsWhatEachRuleCut) {
  const Space space = build();
  const VariantReport& tile = space.report().variants.front();
  EXPECT_EQ(tile.combinations, 4u * 4 * 2 * 3);
  EXPECT_EQ(tile.configs, space.size() - 2);
  std::map<std::string, std::uint64_t> cut;
  for (const RuleReport& rule : tile.rules) cut[rule.because] += rule.cut;
  EXPECT_EQ(cut["wide padding is for large tiles"], 4u);
  // 128 x 128 with each of three paddings, and as many without; 128 x 64 and 64 x 128 fit.
  EXPECT_EQ(cut["the tile must fit in shared memory"], 6u);
}

TEST_F(SpaceTest, EmptySpaceNamesTheRuleThatCutMost) {
  use(with("requires = \"device.max_threads_per_block >= 256\"",
           "requires = \"device.max_threads_per_block >= 2048\""));
  problem_ = Problem::parse(spec_, "rows=100000");
  const std::string error = build_error();
  EXPECT_THAT(error, HasSubstr("no config of transpose is legal for rows=100000 cols=100000 "));
  EXPECT_THAT(error, HasSubstr("\n  tile: not possible here: device.max_threads_per_block >= 2048: "
                               "1024 >= 2048 is false"));
  EXPECT_THAT(
      error,
      HasSubstr(
          "\n  naive: 'grid of step 'transpose_naive'' (the launch must stay "
          "within the device's limits: grid = ceil_div(cols, block_x) x rows) refuses 2 of 2"));
}

TEST_F(SpaceTest, RulesWithoutAnAnswerCutAndAreReported) {
  use(with("\"pad < 4 or tile_rows > 16\"", "\"tile_rows % (pad - 1) == 0\""));
  const Space space = build();
  const auto& rules = space.report().variants.front().rules;
  const auto rule = std::find_if(rules.begin(), rules.end(), [](const RuleReport& candidate) {
    return candidate.rule == "tile_rows % (pad - 1) == 0";
  });
  ASSERT_NE(rule, rules.end());
  EXPECT_THAT(rule->first_fault, HasSubstr("zero"));
  EXPECT_EQ(space.at(space.default_index()).variant, "naive");  // the tile's default needs pad = 1
}

TEST_F(SpaceTest, ExplainsASpaceWithoutBuildingIt) {
  problem_ = Problem::parse(spec_, "rows=100000");
  const SpaceReport report = explain_space({spec_, problem_, device_});
  EXPECT_EQ(report.variants.at(1).configs, 0u);
  EXPECT_EQ(report.configs(), report.variants.at(0).configs);
}

TEST_F(SpaceTest, SamplesEveryConfigAboutEquallyOften) {
  const Space space = build();
  Random random(7);
  std::vector<int> drawn(space.size());
  for (std::size_t i = 0; i < 200 * space.size(); ++i) ++drawn[*space.sample(random)];
  EXPECT_GT(*std::min_element(drawn.begin(), drawn.end()), 120);
  EXPECT_LT(*std::max_element(drawn.begin(), drawn.end()), 280);
}

TEST(Random, IsTheSameOnEveryMachine) {
  Random random(1);
  EXPECT_EQ(random.below(1000), 2469588189546311528u % 1000);  // first output of mt19937_64(1)
  Random same(1);
  EXPECT_EQ(same.below(1000), 2469588189546311528u % 1000);
}

}  // namespace
}  // namespace kiln
