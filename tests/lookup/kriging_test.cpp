// Kriging: what is told of a site by others, near and far, sure and unsure, one and many.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/kriging.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

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

}  // namespace
}  // namespace kiln
