// Alike configs: how far apart two are, and what measured ones tell of those in between.
// SPDX-License-Identifier: Apache-2.0
#include "db/alike_configs.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::optional<double> steps(std::string_view a, std::string_view b) {
  return ConfigPlace(a).steps_to(ConfigPlace(b));
}

TEST(AlikeConfigs, NumbersAreDoublingsApartAndChoicesHalfAStep) {
  EXPECT_EQ(steps("tile:rows=31,pad=1", "tile:rows=31,pad=1"), 0);
  EXPECT_EQ(steps("tile:rows=31,pad=1", "tile:rows=63,pad=1"), 1);
  EXPECT_EQ(steps("tile:rows=31,pad=0", "tile:rows=63,pad=1"), 2) << "0 is one below 1";
  EXPECT_EQ(steps("tile:rows=31", "tile:rows=1023"), 1.5) << "no more, however far";
  EXPECT_EQ(steps("tile:raster=rows,guard=true", "tile:raster=columns,guard=false"), 1);
  EXPECT_EQ(steps("tile:raster=rows,extra=4", "tile:raster=rows"), 1) << "a tunable of its own";
  EXPECT_EQ(steps("tile:a=7,b=3", "tile:b=3,a=15"), 1) << "whatever their order";
  EXPECT_EQ(steps("naive", "naive"), 0);
}

TEST(AlikeConfigs, AnotherVariantOrFarAwayIsNotAlike) {
  EXPECT_FALSE(steps("tile:rows=32", "vector:rows=32"));
  EXPECT_EQ(steps("t:a=1,b=1,c=0", "t:a=99,b=99,c=1"), 4);
  EXPECT_FALSE(steps("t:a=1,b=1,c=0,d=x", "t:a=99,b=99,c=1,d=y"));
}

TEST(AlikeConfigs, AnyTextIsTaken) {
  for (const std::string text : {"", ":", ",,", "a:=", "a:b", "a:b=c=d", "=:,", "a:b=nan,c=-1"}) {
    EXPECT_EQ(steps(text, text), 0) << text;
  }
  EXPECT_EQ(steps("a:b=nan", "a:b=inf"), 0.5) << "no numbers";
}

TEST(AlikeConfigs, TellWhatTheirNeighboursDid) {
  const std::vector<CloseConfig> measured = {{"tile:rows=31", 1}, {"tile:rows=127", 1.5}};
  const AlikeConfigs alike(measured);
  const double between = std::pow(std::pow(1.5, 0.5), 0.8) * std::pow(2, 0.2);
  EXPECT_NEAR(alike.slowdown_of(ConfigPlace("tile:rows=63"), 2).value(), between, 1e-9);
  const double near = alike.slowdown_of(ConfigPlace("tile:rows=30"), 2).value();
  EXPECT_LT(near, between) << "closer to the fast one";
  EXPECT_GT(near, std::pow(2, 0.2)) << "a fifth is what is expected of any";
  EXPECT_FALSE(alike.slowdown_of(ConfigPlace("vector:rows=63"), 2));
  EXPECT_FALSE(AlikeConfigs({}).slowdown_of(ConfigPlace("tile:rows=63"), 2));
}

TEST(AlikeConfigs, HowSlowASlowOneWasDoesNotMatter) {
  const std::vector<CloseConfig> slow = {{"tile:rows=31", 4}};
  const std::vector<CloseConfig> slower = {{"tile:rows=31", 4000}};
  EXPECT_EQ(AlikeConfigs(slow).slowdown_of(ConfigPlace("tile:rows=63"), 2),
            AlikeConfigs(slower).slowdown_of(ConfigPlace("tile:rows=63"), 2));
}

}  // namespace
}  // namespace kiln
