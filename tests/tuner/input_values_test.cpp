// Values on edges, and what lies around inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/input_values.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <gmock/gmock.h>

namespace kiln {
namespace {

using testing::Contains;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Fill uniform(double low, double high) { return {"uniform", low, high, 7, {}}; }

TEST(EdgeValues, AreTheEndsTheThresholdsAndTheirNeighbours) {
  const double thresholds[] = {5, 40};
  EXPECT_THAT(edge_values(uniform(-3, 9), DType::i32, thresholds),
              UnorderedElementsAre(-3, -2, 8, 9, -1, 0, 1, 4, 5, 6))
      << "40 lies outside";
}

TEST(EdgeValues, LeaveOutTheHighEndOfRealRangesAndStepByTheElementType) {
  const float below = std::nextafterf(1.0F, 0.0F);
  const auto f32 = edge_values(uniform(0.5, 1), DType::f32, {});
  EXPECT_THAT(f32, UnorderedElementsAre(0.5, std::nextafterf(0.5F, 1.0F), below));
  const auto f16 = edge_values(uniform(0.5, 1), DType::f16, {});
  EXPECT_THAT(f16, UnorderedElementsAre(0.5, 0.5 + 0x1p-11, 1 - 0x1p-11));
  const auto f64 = edge_values(uniform(0.5, 1), DType::f64, {});
  EXPECT_THAT(f64, Contains(std::nextafter(1.0, 0.0)));
  EXPECT_THAT(f64, Not(Contains(1.0)));
}

TEST(EdgeValues, TakeThePlaceOfEveryFourthElementAndOfBothEnds) {
  HostArray array(DType::f32, {10, 100});
  for (std::size_t i = 0; i < array.count(); ++i) array.set(i, 9);
  const double values[] = {1, 2};
  place_values(array, values, 3);
  std::multiset<double> held;
  for (std::size_t i = 0; i < array.count(); ++i) held.insert(array.get(i));
  EXPECT_NE(array.get(0), 9);
  EXPECT_NE(array.get(999), 9);
  EXPECT_NEAR(static_cast<double>(held.count(1)), 125, 40);
  EXPECT_NEAR(static_cast<double>(held.count(2)), 125, 40);
}

TEST(ExchangedEnds, MoveTheExtremesOfRowsToEveryPlaceInAVector) {
  std::set<std::size_t> largest;
  std::set<std::size_t> smallest;
  for (std::uint64_t seed = 100; seed < 108; ++seed) {
    HostArray array(DType::f32, {2, 50});
    for (std::size_t i = 0; i < array.count(); ++i) array.set(i, static_cast<double>(i));
    exchange_ends(array, seed);
    std::multiset<double> held;
    for (std::size_t i = 0; i < array.count(); ++i) {
      held.insert(array.get(i));
      if (array.get(i) == 49 || array.get(i) == 99) largest.insert(i % 50 % 16);
      if (array.get(i) == 0 || array.get(i) == 50) smallest.insert(i % 50 % 16);
    }
    EXPECT_EQ(held.size(), 100U);
    EXPECT_EQ(std::set<double>(held.begin(), held.end()).size(), 100U) << "nothing is lost";
  }
  EXPECT_THAT(largest, SizeIs(9)) << "seed 100 with row 0 to seed 107 with row 1";
  EXPECT_THAT(smallest, SizeIs(9));

  HostArray alone(DType::f32, {1});
  alone.set(0, 7);
  exchange_ends(alone, 3);
  EXPECT_EQ(alone.get(0), 7);
}

double element(const ZoneBytes& zone, std::size_t index) {
  float value = 0;
  std::memcpy(&value, zone.data() + index * sizeof value, sizeof value);
  return value;
}

TEST(InputZone, HoldsTheLargestTheSmallestAndPlausibleElementsInTurn) {
  const ZoneBytes behind = input_zone(uniform(2, 3), DType::f32, ZoneSide::behind, 0);
  EXPECT_EQ(element(behind, 0), HUGE_VAL);
  EXPECT_EQ(element(behind, 1), -HUGE_VAL);
  EXPECT_GE(element(behind, 2), 2);
  EXPECT_LT(element(behind, 2), 3);
  const ZoneBytes before = input_zone(uniform(2, 3), DType::f32, ZoneSide::before, 1);
  const std::size_t last = kRedZoneBytes / sizeof(float) - 1;
  EXPECT_EQ(element(before, last), -HUGE_VAL) << "the nearest to the buffer comes first";
  EXPECT_GE(element(before, last - 1), 2);
  EXPECT_EQ(element(before, last - 2), HUGE_VAL);
}

}  // namespace
}  // namespace kiln
