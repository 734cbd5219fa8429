// Replay of recorded trials.
// SPDX-License-Identifier: Apache-2.0
#include "search/replay.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "search/recorded_space.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

// Replay: the baseline, the budget and the score, on spaces so small that they can be worked out by
// hand.

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

// Recorded spaces: trials of others and of our own as a space to search in.

Trial recorded_trial(const std::string& variant, std::vector<std::pair<std::string, Value>> values,
                     double ns) {
  Trial out;
  out.config = {variant, std::move(values)};
  out.time_ns = ns;
  if (ns == 0) out.outcome = Outcome::compile_error;
  return out;
}

Value recorded_number(std::int64_t value) { return value; }

std::string fault_of(const std::vector<Trial>& trials) {
  return test::error_of<InputError>([&] { return recorded_space("old", trials); }, "nothing");
}

TEST(RecordedSpace, HoldsWhatWasTriedAndNothingElse) {
  const RecordedSpace recorded = recorded_space(
      "old", {recorded_trial("v", {{"a", recorded_number(16)}, {"b", recorded_number(1)}}, 30),
              recorded_trial("v", {{"a", recorded_number(2)}, {"b", recorded_number(1)}}, 0),
              recorded_trial("v", {{"a", recorded_number(4)}, {"b", recorded_number(2)}}, 20)});
  ASSERT_EQ(recorded.space.size(), 3u);
  std::vector<std::string> configs;
  for (std::size_t i = 0; i < 3; ++i) configs.push_back(recorded.space.at(i).text());
  EXPECT_EQ(configs, (std::vector<std::string>{"v:a=2,b=1", "v:a=4,b=2", "v:a=16,b=1"}))
      << "values ascend, whatever their order in the recording";
  EXPECT_EQ(recorded.results[0].outcome, Outcome::compile_error);
  EXPECT_EQ(recorded.results[1].time_ns, 20);
  EXPECT_EQ(recorded.results[2].time_ns, 30);
  EXPECT_EQ(recorded.space.at(recorded.space.default_index()).text(), "v:a=4,b=2")
      << "the default config is in the middle";
}

TEST(RecordedSpace, AVariantWithoutTunablesHasAPlaceToo) {
  const RecordedSpace recorded = recorded_space(
      "old", {recorded_trial("plain", {}, 50), recorded_trial("v", {{"a", recorded_number(1)}}, 10),
              recorded_trial("v", {{"a", recorded_number(2)}}, 20)});
  ASSERT_EQ(recorded.space.size(), 3u);
  ASSERT_EQ(recorded.results.size(), 3u);
  std::map<std::string, double> times;
  for (std::size_t i = 0; i < 3; ++i)
    times[recorded.space.at(i).text()] = recorded.results[i].time_ns;
  EXPECT_EQ(times, (std::map<std::string, double>{{"plain", 50}, {"v:a=1", 10}, {"v:a=2", 20}}));
}

TEST(RecordedSpace, CountsARepeatedConfigWithItsBestTime) {
  const RecordedSpace recorded =
      recorded_space("old", {recorded_trial("v", {{"a", recorded_number(1)}}, 30),
                             recorded_trial("v", {{"a", recorded_number(1)}}, 0),
                             recorded_trial("v", {{"a", recorded_number(1)}}, 25),
                             recorded_trial("v", {{"a", recorded_number(2)}}, 40)});
  ASSERT_EQ(recorded.space.size(), 2u);
  EXPECT_EQ(recorded.results[0].time_ns, 25);
}

TEST(RecordedSpace, KeepsVariantsWithTheirOwnAndConditionalTunables) {
  const RecordedSpace recorded = recorded_space(
      "old",
      {recorded_trial("v", {{"a", recorded_number(1)}, {"c", recorded_number(7)}}, 10),
       recorded_trial(
           "v", {{"a", recorded_number(2)}, {"b", recorded_number(5)}, {"c", recorded_number(7)}},
           20),
       recorded_trial("w", {{"x", std::string("text")}}, 30), recorded_trial("w", {}, 40)});
  ASSERT_EQ(recorded.space.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(recorded.space.index_of(recorded.space.at(i)), i);
    EXPECT_EQ(recorded.space.index_of(recorded.space.row(i)), i);
  }
  EXPECT_EQ(recorded.space.variant_count(), 2u);
  EXPECT_EQ(recorded.space.at(1).text(), "v:a=2,b=5,c=7");
  EXPECT_EQ(recorded.space.default_indices().size(), 2u);
}

/// `count` of the combinations of tunables of 3 to 6 values, drawn at random; every 16th has no
/// last tunable.
std::vector<Trial> random_trials(std::size_t count, int tunables) {
  std::mt19937 engine(7);
  std::set<std::string> seen;
  std::vector<Trial> trials;
  while (trials.size() < count) {
    std::vector<std::pair<std::string, Value>> values;
    for (int t = 0; t < tunables; ++t) {
      if (t == tunables - 1 && trials.size() % 16 == 15) continue;
      values.emplace_back("t" + std::to_string(t),
                          recorded_number(static_cast<std::int64_t>(engine() % (3U + t % 4))));
    }
    Trial made = recorded_trial("v", std::move(values), 100 + static_cast<double>(trials.size()));
    if (seen.insert(made.config.text()).second) trials.push_back(std::move(made));
  }
  return trials;
}

TEST(RecordedSpace, WithRandomHolesTakesLessThanAByteATunableAndConfig) {
  const RecordedSpace recorded = recorded_space("old", random_trials(4000, 10));
  const Space& space = recorded.space;
  ASSERT_EQ(space.size(), 4000U);
  EXPECT_LE(space.report().bytes(), 4000U * 10 / 2);
  for (std::size_t i = 0; i < space.size(); ++i) {
    ASSERT_EQ(space.index_of(space.row(i)), i);
    ASSERT_EQ(space.index_of(space.at(i)), i);
  }
  Config missing = space.at(0);
  missing.values.front().second = recorded_number(77);
  EXPECT_EQ(space.index_of(missing), std::nullopt);
}

TEST(RecordedSpace, WithRandomHolesKnowsNeighbours) {
  const RecordedSpace recorded = recorded_space("old", random_trials(1500, 6));
  const Space& space = recorded.space;
  std::size_t found = 0;
  for (std::size_t i = 0; i < space.size(); i += 7) {
    const SpaceRow row = space.row(i);
    if (row.values.back() == kAbsent) continue;
    std::set<std::size_t> expected;
    for (std::size_t other = 0; other < space.size(); ++other) {
      const SpaceRow there = space.row(other);
      int differences = 0;
      for (std::size_t t = 0; t < row.values.size(); ++t)
        differences += row.values[t] != there.values[t] ? 1 : 0;
      if (differences == 1 && there.values.back() != kAbsent) expected.insert(other);
    }
    const std::vector<std::size_t> neighbours = space.neighbours(i, Neighbourhood::hamming);
    std::set<std::size_t> known;
    for (const std::size_t index : neighbours) {
      if (space.row(index).values.back() != kAbsent) known.insert(index);
    }
    EXPECT_EQ(known, expected) << space.at(i).text();
    found += expected.size();
  }
  EXPECT_GT(found, 20U) << "the test saw neighbours";
}

TEST(RecordedSpace, NeedsTwoDifferentTimes) {
  const std::string fault =
      "old: nothing to search for: expected at least two configs that ran, with different times";
  EXPECT_EQ(fault_of({recorded_trial("v", {{"a", recorded_number(1)}}, 30)}), fault);
  EXPECT_EQ(fault_of({recorded_trial("v", {{"a", recorded_number(1)}}, 30),
                      recorded_trial("v", {{"a", recorded_number(2)}}, 0)}),
            fault);
  EXPECT_EQ(fault_of({}), fault);
}

TEST(RecordedSpace, RefusesATunableWithTooManyValues) {
  std::vector<Trial> trials;
  for (std::int64_t i = 0; i < 255; ++i) {
    trials.push_back(recorded_trial("v", {{"a", recorded_number(i)}}, 10 + static_cast<double>(i)));
  }
  EXPECT_EQ(fault_of(trials), "old: a has 255 values; a space holds at most 254 of a tunable");
  trials.pop_back();
  EXPECT_EQ(fault_of(trials), "nothing");
}

}  // namespace
}  // namespace kiln
