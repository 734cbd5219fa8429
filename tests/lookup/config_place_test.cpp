// Config places: how far apart two configs are.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/config_place.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln {
namespace {

// Both ways: it is a distance.
std::optional<double> steps(std::string_view a, std::string_view b) {
  const std::optional<double> there = ConfigPlace(a).steps_to(ConfigPlace(b));
  EXPECT_EQ(ConfigPlace(b).steps_to(ConfigPlace(a)), there) << a << " and " << b;
  return there;
}

TEST(ConfigPlace, NumbersAreDoublingsApartAndChoicesHalfAStep) {
  EXPECT_EQ(steps("tile:rows=31,pad=1", "tile:rows=31,pad=1"), 0);
  EXPECT_EQ(steps("tile:rows=31,pad=1", "tile:rows=63,pad=1"), 1);
  EXPECT_EQ(steps("tile:rows=31,pad=0", "tile:rows=63,pad=1"), 2) << "0 is one below 1";
  EXPECT_EQ(steps("tile:rows=31", "tile:rows=1023"), 5) << "however far";
  EXPECT_EQ(steps("tile:raster=rows,guard=true", "tile:raster=columns,guard=false"), 1);
  EXPECT_EQ(steps("tile:a=7,b=3", "tile:b=3,a=15"), 1) << "whatever their order";
  EXPECT_EQ(steps("naive", "naive"), 0);
}

TEST(ConfigPlace, ATunableThatOneHasAloneIsAStep) {
  EXPECT_EQ(steps("tile:raster=rows,extra=4", "tile:raster=rows"), 1);
  EXPECT_EQ(steps("tile:raster=rows,extra=4", "tile:raster=columns,other=4"), 2.5);
}

TEST(ConfigPlace, AnotherVariantIsNowhereNear) {
  EXPECT_FALSE(steps("tile:rows=32", "vector:rows=32"));
}

TEST(ConfigPlace, AnyTextIsTaken) {
  for (const std::string text : {"", ":", ",,", "a:=", "a:b", "a:b=c=d", "=:,", "a:b=nan,c=-1"}) {
    EXPECT_EQ(steps(text, text), 0) << text;
  }
  EXPECT_EQ(steps("a:b=nan", "a:b=inf"), 0.5) << "no numbers";
  EXPECT_EQ(steps("a:b=3", "a:b=many"), 0.5) << "one of them is none";
}

TEST(StepsTable, AgreesWithEachTwo) {
  const std::vector<std::string> texts = {"tile:rows=8,fill=left,pad=1",
                                          "tile:rows=32,fill=right,pad=0",
                                          "tile:rows=8,fill=2,pad=1",
                                          "tile:pad=1,rows=16,fill=left",
                                          "tile:rows=64",
                                          "strip:rows=8,fill=left,pad=1",
                                          "tile:rows=many,fill=left,pad=3",
                                          "",
                                          "tile:rows=8,fill=left,pad=1"};
  const std::vector<ConfigPlace> places(texts.begin(), texts.end());
  const StepsTable table(places);
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = 0; b < places.size(); ++b) {
      const std::optional<double> steps = places[a].steps_to(places[b]);
      EXPECT_EQ(table(a, b), steps.value_or(std::numeric_limits<double>::infinity()))
          << texts[a] << " and " << texts[b];
    }
  }
}

}  // namespace
}  // namespace kiln
