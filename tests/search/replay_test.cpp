// Replay: the baseline, the budget and the score, on spaces so small that they can be worked out by
// hand.
// SPDX-License-Identifier: Apache-2.0
#include "search/replay.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

// One tunable; a time of 0 is a config that failed.
RecordedSpace line(const std::vector<double>& times) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Trial trial;
    trial.config = {"v", {{"a", Value(static_cast<std::int64_t>(i))}}};
    trial.time_ns = times[i];
    if (times[i] == 0) trial.outcome = Outcome::launch_error;
    trials.push_back(trial);
  }
  return recorded_space("line", trials);
}

// A bowl of 32 x 32 configs, fastest off the middle.
RecordedSpace bowl() {
  std::vector<Trial> trials;
  for (std::int64_t a = 0; a < 32; ++a) {
    for (std::int64_t b = 0; b < 32; ++b) {
      Trial trial;
      trial.config = {"v", {{"a", Value(a)}, {"b", Value(b)}}};
      trial.time_ns =
          100 + std::pow(static_cast<double>(a - 25), 2) + std::pow(static_cast<double>(b - 6), 2);
      trials.push_back(trial);
    }
  }
  return recorded_space("bowl", trials);
}

TEST(ReplayTarget, TellsWhatRandomSearchFindsOnAverage) {
  // One draw: (1 + 2 + 6) / 3. Two of three: pairs (1,2) (1,6) (2,6), so (1 + 1 + 2) / 3.
  const ReplayTarget target = replay_target(line({6, 1, 2}));
  EXPECT_EQ(target.optimum_ns, 1);
  EXPECT_EQ(target.median_ns, 2);
  EXPECT_EQ(target.worst_ns, 6);
  ASSERT_EQ(target.baseline_ns.size(), 2u) << "three draws find the optimum for certain";
  EXPECT_DOUBLE_EQ(target.baseline_ns[0], 3);
  EXPECT_DOUBLE_EQ(target.baseline_ns[1], 4.0 / 3);
}

TEST(ReplayTarget, CountsAFailureAsADrawThatFoundNothing) {
  // Pairs: (1,5) (1,-) (5,-), so (1 + 1 + 5) / 3.
  const ReplayTarget target = replay_target(line({5, 0, 1}));
  ASSERT_EQ(target.baseline_ns.size(), 2u);
  EXPECT_DOUBLE_EQ(target.baseline_ns[0], 3);
  EXPECT_DOUBLE_EQ(target.baseline_ns[1], 7.0 / 3);
}

TEST(ReplayTarget, EndsTheBudgetNinetyFivePercentOfTheWayFromMedianToOptimum) {
  std::vector<double> times(250);
  std::iota(times.begin(), times.end(), 1.0);
  const ReplayTarget target = replay_target(line(times));
  // Of 1..N, n draws find (N + 1) / (n + 1) on average.
  const double goal = 125.5 - 0.95 * 124.5;
  ASSERT_FALSE(target.baseline_ns.empty());
  for (std::size_t n = 1; n <= target.baseline_ns.size(); ++n) {
    EXPECT_NEAR(target.baseline_ns[n - 1], 251.0 / static_cast<double>(n + 1), 1e-9);
  }
  EXPECT_LE(target.baseline_ns.back(), goal);
  EXPECT_GT(target.baseline_ns[target.baseline_ns.size() - 2], goal);
}

TEST(Replay, ScoresRandomSearchWithAboutNothing) {
  const RecordedSpace recorded = bowl();
  const ReplayTarget target = replay_target(recorded);
  std::vector<ReplayScore> scores;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    scores.push_back(replay(recorded, target, "random", seed));
  }
  EXPECT_NEAR(mean(scores).score, 0, 0.3) << "it begins with the default config and a hypercube";
}

TEST(Replay, ScoresByHand) {
  // The default config is the middle one, 4; then exhaustive search finds 10, 8, 1, 9.
  const RecordedSpace recorded = line({10, 8, 4, 1, 9});
  const ReplayTarget target = replay_target(recorded);
  const ReplayScore score = replay(recorded, target, "exhaustive", 1);
  const std::vector<double> found = {4, 4, 4, 1, 1};
  double expected = 0;
  for (std::size_t n = 0; n < target.baseline_ns.size(); ++n) {
    expected += (target.baseline_ns[n] - found[n]) / (target.baseline_ns[n] - 1);
  }
  EXPECT_DOUBLE_EQ(score.score, expected / static_cast<double>(target.baseline_ns.size()));
  EXPECT_EQ(score.shares[0], 1) << "the space is exhausted before 25 evaluations";
}

TEST(Replay, CountsTheWorstTimeAsFoundWhileEverythingFails) {
  const RecordedSpace recorded = line({4, 2, 0, 2, 4});  // the default config fails
  const ReplayTarget target = replay_target(recorded);
  const ReplayScore score = replay(recorded, target, "exhaustive", 1);
  // Found: nothing (counts as 4), then 4, then 2.
  EXPECT_LT(score.score, 0);
}

TEST(Replay, RepeatsItselfForTheSameSeed) {
  const RecordedSpace recorded = bowl();
  const ReplayTarget target = replay_target(recorded);
  for (const char* const strategy : {"auto", "bandit", "swarm"}) {
    EXPECT_EQ(replay(recorded, target, strategy, 3).score,
              replay(recorded, target, strategy, 3).score);
    EXPECT_NE(replay(recorded, target, strategy, 3).score,
              replay(recorded, target, strategy, 4).score);
  }
}

TEST(Replay, ScoresAStrategyThatLearnsFarAboveRandomSearch) {
  const RecordedSpace recorded = bowl();
  const ReplayTarget target = replay_target(recorded);
  std::vector<ReplayScore> scores;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    scores.push_back(replay(recorded, target, "auto", seed));
  }
  EXPECT_GT(mean(scores).score, 0.5);
  EXPECT_GT(mean(scores).shares[2], 0.99);
}

TEST(Replay, RefusesAnUnknownStrategy) {
  const RecordedSpace recorded = line({1, 2, 3});
  EXPECT_THROW((void)replay(recorded, replay_target(recorded), "rndom", 1), UsageError);
}

}  // namespace
}  // namespace kiln
