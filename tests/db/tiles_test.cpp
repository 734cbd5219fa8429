// Tiles: what the grid of a spec tells of a config on a problem where it was never measured.
// SPDX-License-Identifier: Apache-2.0
#include "db/tiles.hpp"

#include <cmath>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/problem.hpp"
#include "tests/db/scale.hpp"

namespace kiln {
namespace {

class TilesOfScale : public ::testing::Test {
 protected:
  [[nodiscard]] Problem problem(const std::string& text) const {
    return Problem::parse(spec_, text);
  }

  [[nodiscard]] std::optional<double> ask(std::int64_t block_size, const std::string& text) const {
    return tiles_of_busiest_unit(spec_, {"vector", {{"block_size", Value(block_size)}}},
                                 problem(text), test::some_device());
  }
  /// Of what these tests ask.
  [[nodiscard]] double exponent() const {
    return tile_exponent(problem_cost(spec_, problem(kAsked), test::some_device()));
  }

  // On 1100 elements for each of 132 units tiles of 1024 are dealt two by two, as on 2048 of them;
  // of those of 256 a unit has five in place of eight.
  static constexpr const char* kAsked = "n=145200";
  static constexpr const char* kMeasured = "n=270336";

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(TilesOfScale, CountWhole) {
  EXPECT_EQ(ask(1024, "n=135168"), 1) << "132 tiles, 132 units";
  EXPECT_EQ(ask(1024, "n=135169"), 2);
  EXPECT_EQ(ask(64, "n=1048576"), 125) << "124.1 on average";
  EXPECT_FALSE(tiles_of_busiest_unit(spec_, {"gone", {}}, problem("n=4096"), test::some_device()));
}

TEST_F(TilesOfScale, CountEachWhereBlocksWalk) {
  std::string text = test::kScaleSpec;
  const std::string grid = "ceil_div(n, block_size)";
  text.replace(text.find(grid), grid.size(), "min(ceil_div(n, block_size), device.compute_units)");
  spec_ = parse_spec(text, "scale/spec.toml");
  spec_.files["vector.inja"] = "the template";
  EXPECT_EQ(ask(64, "n=1048576"), 125) << "132 blocks walk over 16384 tiles";
}

TEST(TileExponent, IsThatOfArithmeticOrOfMemory) {
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = 1e9, .flops = 0}), 0.1);
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = 1e6, .flops = 1e7}), 0.4) << "halfway";
  EXPECT_NEAR(tile_exponent({.bytes = 1e6, .flops = 1e12}), 0.7, 1e-4);
  EXPECT_DOUBLE_EQ(tile_exponent({}), 0.4) << "the spec does not say";
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = 0, .flops = 1e9}), 0.4);
  EXPECT_DOUBLE_EQ(tile_exponent({.bytes = -1, .flops = 1e9}), 0.4);
}

TEST_F(TilesOfScale, AConfigThatWastesMoreThanTheOthersIsCarriedOverSlower) {
  const Problem asked = problem(kAsked);
  const DeviceInfo device = test::some_device();
  CarryOver carry_over(spec_, asked, device);
  const std::vector<std::string> bests = {"vector:block_size=1024", "vector:block_size=256",
                                          "vector:block_size=256"};
  const std::vector<CloseConfig> carried =
      carry_over({{"vector:block_size=1024", 1}, {"vector:block_size=256", 1.05}, {"gone", 1.1}},
                 bests, problem(kMeasured));
  ASSERT_EQ(carried.size(), 3U);
  EXPECT_EQ(carried[0].config, "vector:block_size=1024");
  EXPECT_NEAR(carried[0].slowdown, std::pow(1.6, exponent()), 1e-9);
  EXPECT_DOUBLE_EQ(carried[1].slowdown, 1.05);
  EXPECT_DOUBLE_EQ(carried[2].slowdown, 1.1) << "nothing is known of it";
}

TEST_F(TilesOfScale, ACostThatHasNoValueIsNone) {
  spec_ = parse_spec(std::string(test::kScaleSpec) + "\n[cost]\nbytes = \"1 // (n - n)\"\n",
                     "scale/spec.toml");
  spec_.files["vector.inja"] = "the template";
  const Problem asked = problem(kAsked);
  const DeviceInfo device = test::some_device();
  CarryOver carry_over(spec_, asked, device);
  const auto carried = carry_over({{"vector:block_size=1024", 1}, {"vector:block_size=256", 1}}, {},
                                  problem(kMeasured));
  EXPECT_NEAR(carried[0].slowdown, std::pow(1.6, 0.4), 1e-9);
}

TEST_F(TilesOfScale, WhatIsKnownHereIsComparedWithWhatIsGoodAround) {
  const Problem asked = problem(kAsked);
  const DeviceInfo device = test::some_device();
  CarryOver carry_over(spec_, asked, device);
  const std::vector<std::string> bests = {"vector:block_size=256", "vector:block_size=1024"};
  const auto alone = [&](std::span<const std::string> around) {
    return carry_over({{"vector:block_size=1024", 1.2}}, around, problem(kMeasured))[0].slowdown;
  };
  EXPECT_DOUBLE_EQ(alone({}), 1.2) << "nothing to compare with";
  EXPECT_NEAR(alone(bests), 1.2 * std::pow(1.6, exponent()), 1e-9)
      << "of two, the one that grows less";
  const std::vector<std::string> gone = {"gone"};
  EXPECT_DOUBLE_EQ(alone(gone), 1.2);
}

}  // namespace
}  // namespace kiln
