// Tiles: what the grid of a spec tells of a config on a problem where it was never measured.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/tiles.hpp"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/problem.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/db/scale.hpp"

namespace kiln {
namespace {

class TilesOfScale : public ::testing::Test {
 protected:
  [[nodiscard]] Problem problem(const std::string& text) const {
    return Problem::parse(spec_, text);
  }

  void replace(const std::string& part, const std::string& other) {
    text_.replace(text_.find(part), part.size(), other);
    spec_ = parse_spec(text_, "scale/spec.toml");
    spec_.files["vector.inja"] = "the template";
  }

  [[nodiscard]] std::optional<Tiles> count(std::int64_t block_size, const std::string& text) const {
    return TileCounter({spec_, problem(text), test::some_device()})(
        {"vector", {{"block_size", Value(block_size)}}});
  }
  /// Where tiles come one at a time.
  [[nodiscard]] double rounds(std::int64_t block_size, const std::string& text) const {
    return rounds_of_busiest_unit(count(block_size, text).value(), {}, test::some_device());
  }
  /// For what these tests ask.
  [[nodiscard]] std::vector<double> factors(const std::vector<CloseConfig>& eligible) const {
    return factors(eligible, eligible.size());
  }
  /// The same, where only the first ones may be the answer.
  [[nodiscard]] std::vector<double> factors(const std::vector<CloseConfig>& configs,
                                            std::size_t eligible) const {
    const Problem asked = problem(kAsked);
    const DeviceInfo device = test::some_device();
    const CarryOver carry({spec_, asked, device}, configs, eligible);
    std::vector<double> list;
    for (const Carried& each : carry.from(problem(kMeasured), device, all_of(configs))) {
      list.push_back(each.factor);
    }
    return list;
  }
  /// Their places.
  static std::vector<std::size_t> all_of(const std::vector<CloseConfig>& configs) {
    std::vector<std::size_t> places(configs.size());
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  /// Of blocks of 1024.
  [[nodiscard]] double noise(const std::string& asked_text, const std::string& measured) const {
    const Problem asked = problem(asked_text);
    const DeviceInfo device = test::some_device();
    const std::vector<CloseConfig> configs = {{"vector:block_size=1024", 1}};
    return CarryOver({spec_, asked, device}, configs, 1)
        .from(problem(measured), device, all_of(configs))
        .at(0)
        .noise;
  }
  [[nodiscard]] double exponent() const {
    return tile_exponent(Setting(spec_, problem(kAsked), test::some_device()).cost());
  }

  // On 1100 elements for each of 132 units tiles of 1024 are dealt two by two, as on 2048 of them;
  // of those of 256 a unit has five in place of eight.
  static constexpr const char* kAsked = "n=145200";
  static constexpr const char* kMeasured = "n=270336";

  std::string text_ = test::kScaleSpec;
  KernelSpec spec_ = test::scale_spec();
};

TEST_F(TilesOfScale, CountWhole) {
  EXPECT_EQ(rounds(1024, "n=135168"), 1) << "132 tiles, 132 units";
  EXPECT_EQ(rounds(1024, "n=135169"), 2);
  EXPECT_EQ(rounds(64, "n=1048576"), 125) << "124.1 on average";
  const std::optional<Tiles> tiles = count(64, "n=1048577");
  ASSERT_TRUE(tiles);
  EXPECT_EQ(tiles->blocks, 16385);
  EXPECT_EQ(tiles->threads, 64);
  EXPECT_EQ(tiles->shared_bytes, 0);
  EXPECT_FALSE(TileCounter({spec_, problem("n=4096"), test::some_device()})({"gone", {}}));
}

TEST_F(TilesOfScale, CountEachWhereBlocksWalk) {
  replace("ceil_div(n, block_size)", "min(ceil_div(n, block_size), device.compute_units)");
  EXPECT_EQ(rounds(64, "n=1048576"), 125) << "132 blocks walk over 16384 tiles";
}

// A sum that one block finishes alone tells nothing of one that several must bring together.
TEST_F(TilesOfScale, TellLittleOfSeveralBlocksWhereThereWasOne) {
  EXPECT_EQ(noise("n=1025", "n=1024"), kOneBlockNoise);
  EXPECT_EQ(noise("n=1024", "n=1025"), kOneBlockNoise);
  EXPECT_EQ(noise("n=1000", "n=1024"), kMeasuredNoise);
  EXPECT_EQ(noise("n=4096", "n=1025"), kMeasuredNoise);
}

// A sum over splits of k has more threads behind it than the splits themselves.
TEST_F(TilesOfScale, AreThoseOfTheFirstLaunch) {
  const std::string steps = "[[variants.steps]]";
  replace(steps, steps + R"(
when = "block_size == 64"
entry = "part"
grid = ["2", "3"]
block = ["block_size", "2"]
shared_bytes = "4 * block_size"
arguments = ["source", "out"]
)" + steps);
  const std::optional<Tiles> tiles = count(64, "n=1048576");
  ASSERT_TRUE(tiles);
  EXPECT_EQ(tiles->blocks, 6);
  EXPECT_EQ(tiles->threads, 128);
  EXPECT_EQ(tiles->shared_bytes, 256);
  EXPECT_EQ(count(128, "n=1048576").value().blocks, 8192) << "the first that there is";
}

TEST(Rounds, AreShorterWhereSeveralBlocksFit) {
  DeviceInfo device = test::some_device();  // 132 units
  device.warp_size = 32;
  device.shared_bytes_per_unit = 100 << 10;
  const auto rounds = [&](double blocks, std::int64_t registers, std::int64_t shared = 0) {
    const CloseConfig needs{"c", 1, registers, shared};
    return rounds_of_busiest_unit({.blocks = blocks, .threads = 256, .shared_bytes = 0}, needs,
                                  device);
  };
  EXPECT_EQ(rounds(132 * 4, -1), 4) << "not known: one at a time";
  EXPECT_EQ(rounds(132 * 4, 128), 2) << "two at a time";
  EXPECT_DOUBLE_EQ(rounds(132 * 4 + 1, 128), 2 + std::pow(0.5, 0.4));
  EXPECT_DOUBLE_EQ(rounds(1, 32), std::pow(1.0 / 8, 0.4));
  EXPECT_EQ(rounds(132 * 4, 32, 40 << 10), 2) << "shared memory for two";
  device.is_cpu = true;
  EXPECT_EQ(rounds(132 * 4, 128), 4) << "a core runs one after the other";
}

TEST(TileExponent, IsThatOfArithmeticOrOfMemory) {
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = 1e9, .flops = 0}), 0.2);
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = 1e6, .flops = 1e7}), 0.5) << "halfway";
  EXPECT_NEAR(tile_exponent({.bytes = 1e6, .flops = 1e12}), 0.8, 1e-4);
  EXPECT_DOUBLE_EQ(tile_exponent({}), 0.5) << "the spec does not say";
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = 0, .flops = 1e9}), 0.5);
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = -1, .flops = 1e9}), 0.5);
}

TEST_F(TilesOfScale, AConfigThatWastesMoreThanIsUsualIsCarriedOverSlower) {
  const std::vector<double> carried = factors(
      {{"vector:block_size=1024"}, {"vector:block_size=256"}, {"gone"}, {"vector:block_size=256"}});
  ASSERT_EQ(carried.size(), 4U);
  EXPECT_NEAR(carried[0], std::pow(1.6, exponent()), 1e-9);
  EXPECT_DOUBLE_EQ(carried[1], 1);
  EXPECT_DOUBLE_EQ(carried[2], 1) << "nothing is known of it";
}

TEST_F(TilesOfScale, WhatIsUsualIsTheMiddleOfAll) {
  const std::vector<double> carried =
      factors({{"vector:block_size=1024"}, {"vector:block_size=256"}});
  EXPECT_NEAR(carried[0], std::pow(1.6, exponent() / 2), 1e-9);
  EXPECT_NEAR(carried[1], std::pow(1.6, -exponent() / 2), 1e-9);
  EXPECT_NEAR(factors({{"vector:block_size=256"}, {"vector:block_size=1024"}}, 1)[1],
              std::pow(1.6, exponent()), 1e-9)
      << "of those that may be the answer";
  EXPECT_THAT(factors({{"vector:block_size=1024"}}), ::testing::ElementsAre(1))
      << "nothing to compare with";
  EXPECT_THAT(factors({}), ::testing::IsEmpty());
}

TEST_F(TilesOfScale, OnlyThoseAskedAboutAreCarriedOver) {
  const Problem asked = problem(kAsked);
  const DeviceInfo device = test::some_device();
  const std::vector<CloseConfig> configs = {
      {"vector:block_size=256"}, {"vector:block_size=1024"}, {"gone"}};
  const CarryOver carry({spec_, asked, device}, configs, 1);
  const std::vector<std::size_t> places = {2, 1, 1};
  const std::vector<Carried> carried = carry.from(problem(kMeasured), device, places);
  ASSERT_EQ(carried.size(), 3U);
  EXPECT_EQ(carried[0].factor, 1);
  EXPECT_NEAR(carried[1].factor, std::pow(1.6, exponent()), 1e-9);
  EXPECT_EQ(carried[2].factor, carried[1].factor);
}

TEST_F(TilesOfScale, WhatFitsInAUnitCounts) {
  // Of tiles of 128 a unit has nine and sixteen. With 240 registers a thread two fit, without
  // any sixteen do.
  const std::vector<double> carried =
      factors({{"vector:block_size=128", 1, 240}, {"vector:block_size=128", 1, 0}});
  const DeviceInfo device = test::some_device();
  const auto growth = [&](std::int64_t registers) {
    const auto of = [&](const char* text) {
      return rounds_of_busiest_unit(count(128, text).value(), {"c", 1, registers}, device);
    };
    return exponent() * std::log(of(kAsked) / of(kMeasured));
  };
  ASSERT_NE(growth(240), growth(0));
  EXPECT_NEAR(std::log(carried[0] / carried[1]), growth(240) - growth(0), 1e-9);
}

TEST_F(TilesOfScale, EachDeviceHasItsUnits) {
  const Problem asked = problem(kMeasured);
  const DeviceInfo device = test::some_device();
  DeviceInfo larger = device;
  larger.compute_units = 245;  // 1100 elements for each
  const std::vector<CloseConfig> configs = {{"vector:block_size=1024"}, {"vector:block_size=256"}};
  const std::vector<Carried> here =
      CarryOver({spec_, asked, device}, configs, 2).from(asked, device, all_of(configs));
  EXPECT_EQ(here[0].factor, 1);
  EXPECT_EQ(here[1].factor, 1);
  const std::vector<Carried> there =
      CarryOver({spec_, asked, larger}, configs, 2).from(asked, device, all_of(configs));
  // Two rounds of 1024 are two, where eight of 256 are five.
  EXPECT_NEAR(there[0].factor / there[1].factor, std::pow(1.6, exponent()), 1e-9);
}

TEST_F(TilesOfScale, ACostThatHasNoValueIsNone) {
  replace("[verify.formulas]", "[cost]\nbytes = \"1 // (n - n)\"\n[verify.formulas]");
  const std::vector<double> carried =
      factors({{"vector:block_size=1024"}, {"vector:block_size=256"}});
  EXPECT_NEAR(carried[0] / carried[1], std::pow(1.6, 0.5), 1e-9);
}

}  // namespace
}  // namespace kiln
