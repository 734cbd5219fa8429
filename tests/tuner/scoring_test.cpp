// Trials and finals by another objective than time; drift; how often equals are called better.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/scoring.hpp"

#include <random>

#include <gtest/gtest.h>

#include "templates/library.hpp"
#include "tuner/rules/drift.hpp"
#include "tuner/rules/verdict.hpp"
#include "tuner/session/comparison.hpp"

namespace kiln {
namespace {

class ScoringTest : public testing::Test {
 protected:
  [[nodiscard]] Scoring scoring(const std::string& objective) const {
    return {{spec_, problem_, device_}, objective};
  }
  [[nodiscard]] Trial trial_of(std::int64_t block, double time_ns) const {
    Trial trial;
    trial.config = Config{"good", {{"block", block}}};
    trial.time_ns = time_ns;
    return trial;
  }

  KernelSpec spec_ = KernelLibrary().load(KILN_SOURCE_DIR "/tests/tuner/kernels/faulty");
  Problem problem_ = Problem::parse(spec_, "n=1000");
  DeviceInfo device_ = device_for_architecture("opencl", "opencl");
};

TEST_F(ScoringTest, TimeIsItsOwnScore) {
  const Scoring time = scoring("time");
  EXPECT_EQ(time.score(trial_of(64, 500)), 500);
  EXPECT_EQ(time.told(trial_of(64, 500)).time_ns, 500);
  EXPECT_EQ(time.scores(trial_of(64, 500), {1, 2}, {}), (std::vector<double>{1, 2}));
}

TEST_F(ScoringTest, AStrategyIsToldTheScoreInPlaceOfTheTime) {
  const Scoring most = scoring("bandwidth");
  EXPECT_LT(most.told(trial_of(64, 500)).time_ns, most.told(trial_of(64, 1000)).time_ns);
  const Scoring threads = scoring("threads");
  EXPECT_EQ(threads.told(trial_of(64, 500)).time_ns, 64);
  EXPECT_EQ(threads.told(trial_of(16, 900)).time_ns, 16);
}

TEST_F(ScoringTest, WithoutAValueAConfigCannotWin) {
  const Scoring energy = scoring("energy");
  const Trial told = energy.told(trial_of(64, 500));
  EXPECT_FALSE(told.ok());
  EXPECT_EQ(told.message, "the objective 'energy' has no value for it");
  EXPECT_TRUE(energy.scores(trial_of(64, 500), {1, 2}, {}).empty());
  EXPECT_EQ(energy.scores(trial_of(64, 500), {1, 2}, {0.5, 0.25}),
            (std::vector<double>{0.5, 0.25}));
}

std::vector<double> around(double ns, double noise, int seed, std::size_t count = 24) {
  std::mt19937 engine(static_cast<unsigned>(seed));
  std::normal_distribution<double> spread(0, noise);
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back(ns * (1 + spread(engine)));
  return samples;
}

TEST(Drift, IsMoreThanNoiseOnlyBeyondItsBounds) {
  const auto then = around(1000, 0.01, 1);
  EXPECT_FALSE(compare_with_then(then, around(1000, 0.01, 2)).beyond_noise());
  EXPECT_FALSE(compare_with_then(then, around(1009, 0.001, 2)).beyond_noise()) << "below 1%";
  const DriftRecord slower = compare_with_then(then, around(1100, 0.01, 2));
  EXPECT_TRUE(slower.beyond_noise());
  EXPECT_NEAR(slower.ratio, 1.1, 0.01);
  EXPECT_TRUE(compare_with_then(then, around(900, 0.01, 2)).beyond_noise());
  EXPECT_FALSE(compare_with_then({}, then).beyond_noise());
}

TEST(Drift, ChangesEvenlyBetweenTwoMeasurements) {
  DriftCurve curve;
  EXPECT_EQ(curve.at(7), 1);
  curve.add({10, "a", 1.2, 1.1, 1.3, 0}, 1);
  EXPECT_DOUBLE_EQ(curve.at(5), 1.1);
  EXPECT_DOUBLE_EQ(curve.at(10), 1.2);
  EXPECT_DOUBLE_EQ(curve.at(50), 1.2);
}

TEST(Drift, IsToldFromTheLeadersOwnTrial) {
  DriftCurve curve;
  curve.add({10, "a", 1.2, 1.1, 1.3, 0}, 1);
  // A later leader, tried when the device was slow already, is as fast as then.
  curve.add({20, "b", 1.001, 0.98, 1.02, 0}, 12);
  EXPECT_DOUBLE_EQ(curve.at(20), 1.2);
  curve.add({30, "b", 0.9, 0.85, 0.95, 0}, 12);
  EXPECT_DOUBLE_EQ(curve.at(30), 1.08);
}

TEST(Drift, ABurstOfANeighbourIsNoDrift) {
  DriftCurve curve;
  curve.add({10, "a", 3.2, 3.0, 3.4, 0}, 1);
  EXPECT_EQ(curve.at(10), 1);
}

TEST(Drift, IsLookedForAtGrowingIntervalsForAFiftiethOfTheTime) {
  DriftSchedule schedule({2, 1.5, 0.02});
  EXPECT_FALSE(schedule.due(1.9));
  EXPECT_TRUE(schedule.due(2));
  schedule.done(2, 0.01);
  EXPECT_FALSE(schedule.due(4.9));
  EXPECT_TRUE(schedule.due(5));
  schedule.done(5, 0.3);
  EXPECT_FALSE(schedule.due(12)) << "another 0.3 s would be more than a fiftieth";
  EXPECT_TRUE(schedule.due(31));
}

TEST(Drift, CostsNoMoreThanItsShareOverAnHour) {
  DriftSchedule schedule(DriftOptions{});
  double spent = 0;
  int times = 0;
  for (double elapsed = 0; elapsed < 3600; elapsed += 0.1) {
    if (!schedule.due(elapsed)) continue;
    schedule.done(elapsed, 0.04);
    spent += 0.04;
    ++times;
    EXPECT_LE(spent, 0.02 * elapsed + 0.04);
  }
  EXPECT_GE(times, 10);
}

TEST(Comparison, CopiesUnderTenNamesAreHardlyEverBetter) {
  PairVerdicts sum;
  for (int finals = 0; finals < 40; ++finals) {
    std::vector<std::vector<double>> copies;
    for (int copy = 0; copy < 10; ++copy)
      copies.push_back(around(1000, 0.03, 10 * finals + copy, 40));
    const PairVerdicts counts = count_pairs(copies);
    EXPECT_EQ(counts.pairs(), 90U);
    sum.better += counts.better;
    sum.tie += counts.tie;
  }
  EXPECT_LE(sum.better, 36U) << "of 3600";
  EXPECT_GE(sum.tie, 3500U);
}

TEST(Comparison, ARealDifferenceIsSeen) {
  const PairVerdicts counts =
      count_pairs({around(1000, 0.01, 1, 40), around(900, 0.01, 2, 40), around(950, 0.01, 3, 40)});
  EXPECT_EQ(counts.better, 3U) << "each pair in one of its two orders";
  EXPECT_EQ(counts.pairs(), 6U);
}

}  // namespace
}  // namespace kiln
