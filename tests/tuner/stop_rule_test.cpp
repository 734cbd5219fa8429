// The stop rule on invented samples.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/stop_rule.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr double kNobody = 0;  // no incumbent
const StopOptions kOptions;

TEST(StopRule, WantsSamplesWhileThereAreNone) {
  EXPECT_EQ(decide({}, 0, kNobody, kOptions), StopDecision::more);
  EXPECT_EQ(decide({}, 1e12, 100, kOptions), StopDecision::more);
}

TEST(StopRule, QuietSamplesAreEnoughAtTheMinimum) {
  const std::vector<double> quiet(kOptions.min_samples, 1000.0);
  EXPECT_EQ(decide(quiet, 0, kNobody, kOptions), StopDecision::enough);
  const std::vector<double> too_few(quiet.begin(), quiet.end() - 1);
  EXPECT_EQ(decide(too_few, 0, kNobody, kOptions), StopDecision::more);
}

TEST(StopRule, NoisySamplesGoOnUntilTheMedianIsKnown) {
  std::vector<double> noisy;
  for (int i = 0; i < 20; ++i) noisy.push_back(i % 2 == 0 ? 900 : 1100);
  EXPECT_EQ(decide(noisy, 0, kNobody, kOptions), StopDecision::more);
}

TEST(StopRule, NoiseEndsAtTheMostSamplesAndAtTheTimeLimit) {
  std::vector<double> noisy;
  for (std::size_t i = 0; i < kOptions.max_samples; ++i) noisy.push_back(i % 2 == 0 ? 500 : 1500);
  EXPECT_EQ(decide(noisy, 0, kNobody, kOptions), StopDecision::enough);
  noisy.resize(10);
  EXPECT_EQ(decide(noisy, 0, kNobody, kOptions), StopDecision::more);
  EXPECT_EQ(decide(noisy, kOptions.max_ns, kNobody, kOptions), StopDecision::enough);
}

TEST(StopRule, RunsOfSecondsAreSampledOnce) {
  const std::vector<double> one = {2e9};
  EXPECT_EQ(decide(one, kOptions.max_ns, kNobody, kOptions), StopDecision::more);
  EXPECT_EQ(decide(one, kOptions.most_ns, kNobody, kOptions), StopDecision::enough);
  EXPECT_EQ(decide(one, kOptions.most_ns, 1e9, kOptions), StopDecision::dropped);
}

TEST(StopRule, AFewWildSamplesDoNotHoldItUp) {
  std::vector<double> mostly_quiet(20, 1000.0);
  mostly_quiet[3] = 90000;
  mostly_quiet[11] = 50000;
  EXPECT_EQ(decide(mostly_quiet, 0, kNobody, kOptions), StopDecision::enough);
}

TEST(StopRule, DropsWhatIsClearlySlowerThanTheIncumbent) {
  const std::vector<double> slower = {1400, 1300, 1290};
  EXPECT_EQ(decide(slower, 0, 1000, kOptions), StopDecision::dropped);
  EXPECT_EQ(decide(slower, 0, kNobody, kOptions), StopDecision::more);
}

TEST(StopRule, TheFartherOffTheFewerSamplesAreEnough) {
  const auto decided = [](const std::vector<double>& ns) { return decide(ns, 0, 1000, kOptions); };
  EXPECT_EQ(decided({1210}), StopDecision::dropped);
  EXPECT_EQ(decided({1190}), StopDecision::more);
  EXPECT_EQ(decided({1090, 1120}), StopDecision::dropped);
  EXPECT_EQ(decided({1070, 1120}), StopDecision::more);
  EXPECT_EQ(decided({1070, 1120, 1060}), StopDecision::dropped);
  EXPECT_EQ(decided({1070, 1120, 1040}), StopDecision::more);
  EXPECT_EQ(decided({1070, 1120, 1040, 1035}), StopDecision::dropped);
  EXPECT_EQ(decided({1070, 1120, 1040, 990}), StopDecision::enough) << "behind, but not clearly";
}

TEST(StopRule, OneFastSampleKeepsAConfigInTheRace) {
  EXPECT_EQ(decide(std::vector<double>{5000, 5000, 1010}, 0, 1000, kOptions), StopDecision::more);
}

TEST(StopRule, AConfigThatDoesNotLeadIsSampledLess) {
  std::vector<double> noisy = {960, 1050, 980, 1060};
  ASSERT_EQ(noisy.size(), kOptions.behind_samples);
  EXPECT_EQ(decide(noisy, 0, 1000, kOptions), StopDecision::enough) << "its median is 1015";
  EXPECT_EQ(decide(noisy, 0, 1040, kOptions), StopDecision::more) << "it may lead";
  EXPECT_EQ(decide(noisy, 0, kNobody, kOptions), StopDecision::more);
  noisy.pop_back();
  EXPECT_EQ(decide(noisy, 0, 1000, kOptions), StopDecision::more) << "these are too few";
}

TEST(StopRule, AConfigThatMayLeadIsSampledInFull) {
  std::vector<double> quiet(kOptions.min_samples, 990.0);
  EXPECT_EQ(decide(quiet, 0, 1000, kOptions), StopDecision::enough);
  quiet.pop_back();
  EXPECT_EQ(decide(quiet, 0, 1000, kOptions), StopDecision::more);
}

TEST(StopRule, LeavesCloseRacesToTheFinals) {
  const std::vector<double> two_percent_slower(kOptions.min_samples, 1020.0);
  EXPECT_EQ(decide(two_percent_slower, 0, 1000, kOptions), StopDecision::enough);
  const std::vector<double> ten_percent_slower(kOptions.min_samples, 1100.0);
  EXPECT_EQ(decide(ten_percent_slower, 0, 1000, kOptions), StopDecision::dropped);
}

TEST(StopRule, ErrorOfTheMedianShrinksWithTheRootOfTheNumberOfSamples) {
  std::vector<double> samples;
  for (int i = 0; i < 25; ++i) samples.push_back(1000 + (i % 5) * 10);
  const double few = relative_error_of_median(samples);
  for (int i = 0; i < 75; ++i) samples.push_back(1000 + (i % 5) * 10);
  EXPECT_NEAR(relative_error_of_median(samples), few / 2, few * 0.01);
  EXPECT_EQ(relative_error_of_median(std::vector<double>{1, 2}), 1);
}

}  // namespace
}  // namespace kiln
