// When to stop measuring, and what the samples say.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/verdict.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tuner/rules/stop_rule.hpp"

namespace kiln {
namespace {

using Times = std::vector<double>;

// The rule of the finals on invented samples.

/// `rounds` samples around `ns`, spread by `noise` (relative), plus a drift that all finalists
/// share.
Times noisy(double ns, double noise, int seed, int rounds = 20) {
  std::mt19937 engine(static_cast<unsigned>(seed));
  std::normal_distribution<double> spread(0, noise);
  Times samples;
  for (int round = 0; round < rounds; ++round) {
    const double drift = 1 + 0.2 * std::sin(round / 3.0);
    samples.push_back(ns * drift * (1 + spread(engine)));
  }
  return samples;
}

TEST(RatioInterval, CancelsDriftThatAllShare) {
  const RatioInterval ratio = ratio_interval(noisy(900, 0.002, 1), noisy(1000, 0.002, 2));
  EXPECT_GT(ratio.low, 0.89);
  EXPECT_NEAR(ratio.middle, 0.90, 0.005);
  EXPECT_LT(ratio.high, 0.91);
}

TEST(RatioInterval, SaysNothingFromTooFewRounds) {
  const Times seven(7, 1000.0);
  EXPECT_EQ(ratio_interval(seven, seven).low, 0);
  EXPECT_TRUE(std::isinf(ratio_interval(seven, seven).high));
  const Times eight(8, 1000.0);
  EXPECT_EQ(ratio_interval(eight, eight).low, 1);
  EXPECT_EQ(ratio_interval(eight, eight).high, 1);
}

TEST(RatioInterval, OfManyRoundsIsNarrowAndTheRightWayRound) {
  for (const int rounds : {499, 500, 501, 1074, 1075, 5000}) {
    const RatioInterval ratio =
        ratio_interval(noisy(1000, 0.01, 1, rounds), noisy(1000, 0.01, 2, rounds));
    EXPECT_GT(ratio.low, 0.995) << rounds;
    EXPECT_LE(ratio.low, ratio.middle) << rounds;
    EXPECT_LE(ratio.middle, ratio.high) << rounds;
    EXPECT_LT(ratio.high, 1.005) << rounds;
  }
}

TEST(Finals, AClearlyFasterConfigIsBetter) {
  const FinalsVerdict verdict =
      judge_finals({noisy(1000, 0.01, 1), noisy(800, 0.01, 2), noisy(700, 0.01, 3)}, 0);
  EXPECT_EQ(verdict.winner, 2U);
  EXPECT_EQ(verdict.verdict, Verdict::better);
}

TEST(Finals, AGainBelowOnePercentIsATieAndTheDefaultWins) {
  const FinalsVerdict verdict = judge_finals({noisy(1000, 0.001, 1), noisy(995, 0.001, 2)}, 0);
  EXPECT_EQ(verdict.winner, 0U);
  EXPECT_EQ(verdict.verdict, Verdict::tie);
}

TEST(Finals, OfTiesAmongOthersTheFastestIsTaken) {
  const FinalsVerdict verdict =
      judge_finals({noisy(1000, 0.001, 1), noisy(803, 0.001, 2), noisy(797, 0.001, 3)}, 0);
  EXPECT_EQ(verdict.winner, 2U);
  EXPECT_EQ(verdict.verdict, Verdict::better);
}

TEST(Finals, OfEqualsTheFirstIsTaken) {
  const FinalsVerdict verdict = judge_finals({Times(20, 1000), Times(20, 800), Times(20, 800)}, 0);
  EXPECT_EQ(verdict.winner, 1U);
}

TEST(Finals, NoiseLargerThanAnyDifferenceIsUnmeasurable) {
  Times usual;
  Times other;
  for (int round = 0; round < 12; ++round) {
    usual.push_back(round % 2 == 0 ? 1000 : 2000);
    other.push_back(round % 3 == 0 ? 2500 : 900);
  }
  EXPECT_EQ(judge_finals({usual, other}, 0).verdict, Verdict::unmeasurable);
  EXPECT_EQ(judge_finals({usual, other}, 0).winner, 0U);
}

TEST(Finals, WithoutADefaultTheFastestIsBetterAndWithoutConfigsThereIsNone) {
  const FinalsVerdict verdict =
      judge_finals({noisy(900, 0.01, 1), noisy(800, 0.01, 2)}, std::nullopt);
  EXPECT_EQ(verdict.winner, 1U);
  EXPECT_EQ(verdict.verdict, Verdict::better);
  EXPECT_EQ(judge_finals({}, std::nullopt).verdict, Verdict::none);
}

TEST(Finals, CopiesOfOneConfigAreHardlyEverBetter) {
  int better = 0;
  for (int session = 0; session < 500; ++session) {
    std::vector<Times> copies;
    for (int copy = 0; copy < 4; ++copy) copies.push_back(noisy(1000, 0.03, 4 * session + copy));
    if (judge_finals(copies, 0).verdict == Verdict::better) ++better;
  }
  EXPECT_LE(better, 5);
}

/// A best that takes `share` of a library's time in both cache modes, with errors beside it.
Evidence::Rival rival_of(double share, double other_share, double best_error, double error) {
  Evidence::Rival rival;
  rival.ns = noisy(1000, 0.002, 1);
  rival.best_ns = noisy(1000 * share, 0.002, 2);
  rival.other_ns = noisy(900, 0.002, 3);
  rival.other_best_ns = noisy(900 * other_share, 0.002, 4);
  rival.best_error = best_error;
  rival.error = error;
  return rival;
}

TEST(RivalVerdict, IsFasterOnlyInBothCacheModes) {
  EXPECT_EQ(judge_rival(rival_of(0.9, 0.9, 1e-7, 2e-7)), RivalVerdict::faster);
  EXPECT_EQ(judge_rival(rival_of(0.9, 0.998, 1e-7, 2e-7)), RivalVerdict::tie);
  EXPECT_EQ(judge_rival(rival_of(0.998, 0.9, 1e-7, 2e-7)), RivalVerdict::tie);
  EXPECT_EQ(judge_rival(rival_of(0.9, 1.1, 1e-7, 2e-7)), RivalVerdict::slower);
}

TEST(RivalVerdict, CountsAnErrorBeforeATime) {
  EXPECT_EQ(judge_rival(rival_of(0.5, 0.5, 2.1e-7, 2e-7)), RivalVerdict::less_exact);
  EXPECT_EQ(judge_rival(rival_of(0.5, 0.5, 2.01e-7, 2e-7)), RivalVerdict::faster);  // by chance
  EXPECT_EQ(judge_rival(rival_of(0.5, 0.5, 0, 0)), RivalVerdict::faster);
  EXPECT_EQ(judge_rival(rival_of(0.5, 0.5, std::nan(""), 2e-7)), RivalVerdict::less_exact);
}

TEST(RivalVerdict, OfTooFewRoundsIsNotFaster) {
  Evidence::Rival rival = rival_of(0.5, 0.5, 0, 0);
  rival.other_ns.resize(5);
  rival.other_best_ns.resize(5);
  EXPECT_EQ(judge_rival(rival), RivalVerdict::tie);
}

// The stop rule on invented samples.

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
