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

  [[nodiscard]] std::optional<Tiles> ask(std::int64_t block_size, const std::string& text) const {
    return tiles_of(spec_, {"vector", {{"block_size", Value(block_size)}}}, problem(text),
                    test::some_device());
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(TilesOfScale, CountWhole) {
  const Tiles fits = ask(1024, "n=4096").value();
  EXPECT_EQ(fits.all, 4);
  EXPECT_EQ(fits.of_busiest_unit, 1);
  EXPECT_EQ(ask(1024, "n=4097")->all, 5);
  const Tiles many = ask(64, "n=1048576").value();
  EXPECT_EQ(many.all, 16384);
  EXPECT_EQ(many.of_busiest_unit, 125) << "124.1 on average of 132 units";
  EXPECT_FALSE(tiles_of(spec_, {"gone", {}}, problem("n=4096"), test::some_device()));
}

TEST_F(TilesOfScale, CountEachWhereBlocksWalk) {
  std::string text = test::kScaleSpec;
  const std::string grid = "ceil_div(n, block_size)";
  text.replace(text.find(grid), grid.size(), "min(ceil_div(n, block_size), device.compute_units)");
  spec_ = parse_spec(text, "scale/spec.toml");
  spec_.files["vector.inja"] = "the template";
  EXPECT_EQ(ask(64, "n=1048576")->all, 16384) << "132 blocks walk over them";
}

TEST_F(TilesOfScale, GrowthIsOfWorkAndOfTheBusiestUnit) {
  EXPECT_EQ(growth({10, 1}, {10, 1}), 0);
  EXPECT_NEAR(std::exp(growth({10, 1}, {20, 1})), 1.149, 0.001);
  EXPECT_NEAR(std::exp(growth({132, 1}, {133, 2})), 1.572, 0.001);
  EXPECT_DOUBLE_EQ(growth({10, 1}, {30, 2}), -growth({30, 2}, {10, 1}));
}

TEST_F(TilesOfScale, AConfigThatWastesMoreThanTheOthersIsCarriedOverSlower) {
  // On 1100 elements tiles of 1024 do as much as on 2048, those of 256 five eighths.
  const Problem asked = problem("n=1100");
  const DeviceInfo device = test::some_device();
  CarryOver carry_over(spec_, asked, device);
  const std::vector<std::string> bests = {"vector:block_size=1024", "vector:block_size=256",
                                          "vector:block_size=256"};
  const std::vector<CloseConfig> carried =
      carry_over({{"vector:block_size=1024", 1}, {"vector:block_size=256", 1.05}, {"gone", 1.1}},
                 bests, problem("n=2048"));
  ASSERT_EQ(carried.size(), 3U);
  EXPECT_EQ(carried[0].config, "vector:block_size=1024");
  EXPECT_NEAR(carried[0].slowdown, std::pow(1.6, 0.2), 1e-9);
  EXPECT_DOUBLE_EQ(carried[1].slowdown, 1.05);
  EXPECT_DOUBLE_EQ(carried[2].slowdown, 1.1) << "nothing is known of it";
}

TEST_F(TilesOfScale, WhatIsKnownHereIsComparedWithWhatIsGoodAround) {
  const Problem asked = problem("n=1100");
  const DeviceInfo device = test::some_device();
  CarryOver carry_over(spec_, asked, device);
  const std::vector<std::string> bests = {"vector:block_size=256", "vector:block_size=1024"};
  const auto alone = [&](std::span<const std::string> around) {
    return carry_over({{"vector:block_size=1024", 1.2}}, around, problem("n=2048"))[0].slowdown;
  };
  EXPECT_DOUBLE_EQ(alone({}), 1.2) << "nothing to compare with";
  EXPECT_NEAR(alone(bests), 1.2 * std::pow(1.6, 0.2), 1e-9) << "of two, the one that grows less";
  const std::vector<std::string> gone = {"gone"};
  EXPECT_DOUBLE_EQ(alone(gone), 1.2);
}

}  // namespace
}  // namespace kiln
