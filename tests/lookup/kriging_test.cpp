// Where a config stands, and what is known around it.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/kriging.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lookup/config_place.hpp"

namespace kiln {
namespace {

// Kriging: what is told of a site by others, near and far, sure and unsure, one and many.

constexpr double kSure = 1e-6;

class Kriging : public ::testing::Test {
 protected:
  // Of the config at problem 0.
  SlowdownForecast forecast(std::size_t config,
                            const std::vector<Observation>& observations) const {
    std::vector<ConfigPlace> places(texts_.begin(), texts_.end());
    const std::vector<Site> asked = {{config, 0}};
    return krige(places, distances_, observations, asked).at(0);
  }
  double slowdown(std::size_t config, const std::vector<Observation>& observations) const {
    return std::exp(forecast(config, observations).log_slowdown);
  }

  // A step between each two neighbours, and another variant.
  std::vector<std::string> texts_ = {"tile:rows=31", "tile:rows=63", "tile:rows=127", "naive"};
  // The problem asked for, two near it on either side, one far away.
  Distances distances_ = {{0, 1, 1, 8}, {1, 0, 2, 9}, {1, 2, 0, 7}, {8, 9, 7, 0}};
};

TEST_F(Kriging, WhatWasMeasuredIsWhatIsForecast) {
  distances_ = {{0, 0}, {0, 0}};
  const SlowdownForecast same = forecast(0, {{{0, 1}, 1.3, kSure}});
  EXPECT_NEAR(std::exp(same.log_slowdown), 1.3, 1e-6);
  EXPECT_NEAR(same.deviation, 0, 1e-5);
}

TEST_F(Kriging, WhereNothingIsKnownTheUnknownIsForecast) {
  for (const auto& observations :
       {std::vector<Observation>{}, std::vector<Observation>{{{3, 1}, 1, kSure}}}) {
    const SlowdownForecast none = forecast(0, observations);
    EXPECT_DOUBLE_EQ(std::exp(none.log_slowdown), kUnknownSlowdown) << "naive tells nothing of it";
    EXPECT_DOUBLE_EQ(none.deviation, kSpread);
  }
}

// One observation at a likeness of l: the unknown and the share l of the difference to it.
TEST_F(Kriging, StepsAndDoublingsCountAlike) {
  const double likeness = std::exp(-1 / kDoublingsApart);
  const double expected = std::pow(kUnknownSlowdown, 1 - likeness);
  EXPECT_NEAR(slowdown(0, {{{0, 1}, 1, kSure}}), expected, 1e-6);
  static_assert(kStepsApart == kDoublingsApart);
  distances_ = {{0, 0}, {0, 0}};
  EXPECT_NEAR(slowdown(0, {{{1, 1}, 1, kSure}}), expected, 1e-6) << "a step away";
  EXPECT_NEAR(slowdown(0, {{{1, 1}, 1, kSpread}}), std::pow(kUnknownSlowdown, 1 - likeness / 2),
              1e-6)
      << "as unsure as knowing nothing";
}

TEST_F(Kriging, BetweenTwoLiesBetween) {
  const Observation fast = {{0, 1}, 1, kSure};
  const Observation slow = {{0, 2}, 1.5, kSure};
  const double between = slowdown(0, {fast, slow});
  EXPECT_GT(between, 1);
  EXPECT_LT(between, 1.5);
  EXPECT_LT(forecast(0, {fast, slow}).deviation, forecast(0, {fast}).deviation);
}

TEST_F(Kriging, WhatIsFarAwayHardlyCounts) {
  const std::vector<Observation> near = {{{0, 1}, 1.2, kSure}, {{0, 2}, 1.2, kSure}};
  std::vector<Observation> all = near;
  all.push_back({{0, 3}, 4, kSure});
  EXPECT_NEAR(slowdown(0, all), slowdown(0, near), 0.01);
}

// Ten sessions of nearly one problem are not ten opinions.
TEST_F(Kriging, ManyOfOneKindCountLittleMoreThanOne) {
  const Observation fast = {{0, 1}, 1, 0.08};
  const Observation slow = {{0, 2}, 1.5, 0.08};
  std::vector<Observation> crowd = {slow};
  for (int i = 0; i < 10; ++i) crowd.push_back(fast);
  EXPECT_NEAR(slowdown(0, crowd), slowdown(0, {fast, slow}), 0.02);
}

TEST_F(Kriging, HowSlowASlowOneWasDoesNotMatter) {
  EXPECT_EQ(slowdown(0, {{{0, 1}, kSlowest, kSure}}), slowdown(0, {{{0, 1}, 4000, kSure}}));
}

TEST_F(Kriging, WhatIsNoNumberIsNotFast) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(slowdown(0, {{{0, 1}, kNone, kSure}}), slowdown(0, {{{0, 1}, kSlowest, kSure}}));
  distances_[0][1] = distances_[1][0] = kNone;
  EXPECT_DOUBLE_EQ(slowdown(0, {{{0, 1}, 1, kSure}}), kUnknownSlowdown);
}

TEST_F(Kriging, OfVeryManyThoseThatTellMostAreTaken) {
  std::vector<Observation> observations(2 * kMaxObservations, {{2, 3}, 4, 0.08});
  observations.push_back({{0, 1}, 1, kSure});
  EXPECT_NEAR(slowdown(0, observations), slowdown(0, {observations.back()}), 0.01);
}

// Texts can be "alike" in ways that are no distance: three choices of one tunable, two of them
// numbers far apart.
TEST_F(Kriging, AnyPlacesGiveANumber) {
  texts_ = {"t:a=x", "t:a=0", "t:a=1000000000000000000000000", "t:", ":", ""};
  std::vector<Observation> observations;
  for (std::size_t i = 0; i < texts_.size(); ++i) observations.push_back({{i, 1}, 1.0 + i, 1e-9});
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    EXPECT_TRUE(std::isfinite(forecast(i, observations).log_slowdown)) << texts_[i];
  }
}

// Config places: how far apart two configs are.

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
