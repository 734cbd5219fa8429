// Neighbours: what the tuned problems around say together of one that was never tuned.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/neighbours.hpp"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lookup/tiles.hpp"
#include "tests/db/scale.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// So many doublings away, with configs and their slowdowns.
struct Around {
  double distance = 1;
  std::vector<std::pair<std::string, double>> measured;
};

// All that they measured may be the answer. The problems are as far apart as on a line.
NearbyBests neighbourhood(const std::vector<Around>& around) {
  NearbyBests all;
  std::vector<double> places = {0};
  for (const Around& each : around) {
    places.push_back(each.distance);
    for (const auto& [config, slowdown] : each.measured) {
      const auto found = std::find(all.configs.begin(), all.configs.end(), config);
      const auto place = static_cast<std::size_t>(found - all.configs.begin());
      if (found == all.configs.end()) all.configs.push_back(config);
      all.observations.push_back({{place, places.size() - 1}, slowdown, kMeasuredNoise});
    }
  }
  all.eligible = all.configs.size();
  for (const double a : places) {
    std::vector<double>& row = all.distances.emplace_back();
    for (const double b : places) row.push_back(std::abs(a - b));
  }
  return all;
}

// Three configs that tell nothing of each other.
TEST(RankConfigs, WhatIsGoodForAllGoesBeforeAWinnerThatOneKnows) {
  const std::vector<ExpectedConfig> ranking =
      rank_configs(neighbourhood({{1, {{"winner", 1}, {"solid", 1.02}, {"slower", 1.3}}},
                                  {-1.5, {{"slower", 1}, {"solid", 1.01}}}}));
  ASSERT_EQ(ranking.size(), 3U);
  EXPECT_EQ(ranking[0].config, "solid");
  EXPECT_LT(ranking[0].slowdown, ranking[1].slowdown);
}

TEST(RankConfigs, TheNearestCountsMost) {
  const auto first = [](double a, double b) {
    return rank_configs(neighbourhood({{a, {{"one", 1}, {"other", 1.2}}},  //
                                       {b, {{"one", 1.2}, {"other", 1}}}}))[0]
        .config;
  };
  EXPECT_EQ(first(0.5, -2), "one");
  EXPECT_EQ(first(2, -0.5), "other");
  EXPECT_THAT(rank_configs({}), IsEmpty());
}

TEST(RankConfigs, WhatOnlyAFarOneMeasuredLosesToWhatTheNearOnesKnow) {
  const std::vector<Around> around = {
      {1, {{"known", 1.3}}}, {-1.5, {{"known", 1.3}}}, {4, {{"far", 1}, {"known", 1.4}}}};
  EXPECT_EQ(rank_configs(neighbourhood(around))[0].config, "known");
}

TEST(RankConfigs, OfTwoAsFastTheOneThatMoreIsKnownOf) {
  const std::vector<ExpectedConfig> ranking =
      rank_configs(neighbourhood({{1, {{"once", 1}, {"twice", 1}}}, {-1, {{"twice", 1}}}}));
  EXPECT_EQ(ranking[0].config, "twice");
}

TEST(RankConfigs, WhatIsLikeAFastOneIsExpectedToBeFast) {
  const std::vector<ExpectedConfig> ranking =
      rank_configs(neighbourhood({{1, {{"tile:rows=31", 1}, {"tile:rows=511", 1.5}}},
                                  {-1.5, {{"tile:rows=63", 1.1}, {"tile:rows=255", 1.1}}}}));
  EXPECT_EQ(ranking[0].config, "tile:rows=31");
  EXPECT_EQ(ranking[1].config, "tile:rows=63") << "as fast as rows=255, but beside the fast one";
}

TEST(RankConfigs, TiesKeepTheirOrder) {
  const std::vector<ExpectedConfig> ranking =
      rank_configs(neighbourhood({{1, {{"b", 1}, {"a", 1}, {"c", 1}}}}));
  EXPECT_EQ(ranking[0].config, "b");
  EXPECT_EQ(ranking[1].config, "a");
  EXPECT_EQ(ranking[2].config, "c");
}

class NeighbourhoodOfScale : public ::testing::Test {
 protected:
  [[nodiscard]] BestRecord tuned(const std::string& problem, std::int64_t block_size,
                                 const std::string& evidence = "{}") const {
    BestRecord best = test::scale_best(spec_, problem, block_size, test::some_device());
    best.evidence = evidence;
    return best;
  }
  [[nodiscard]] NearbyBests ask(const std::string& problem,
                                const std::vector<BestRecord>& bests) const {
    const Problem asked = Problem::parse(spec_, problem);
    const DeviceInfo device = test::some_device();
    return neighbourhood_of({spec_, asked, device},
                            ranked_candidates({spec_, asked, device}, bests));
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(NeighbourhoodOfScale, HoldsWhatCameCloseFirstAndAllThatWasMeasured) {
  const NearbyBests all =
      ask("n=8192", {tuned("n=16384", 512,
                           R"({"close":[{"config":"vector:block_size=256","slowdown":1.1}],)"
                           R"("first":[{"config":"vector:block_size=64","slowdown":3}]})"),
                     tuned("n=2048", 128)});
  EXPECT_THAT(all.configs, ElementsAre("vector:block_size=512", "vector:block_size=256",
                                       "vector:block_size=128", "vector:block_size=64"));
  EXPECT_EQ(all.eligible, 3U) << "64 is to compare with, not to hand out";
  EXPECT_EQ(all.problems(), 2U);
  EXPECT_EQ(all.observations.size(), 4U);
  EXPECT_EQ(all.distances[0][1], 1) << "from 8192 to 16384";
  EXPECT_EQ(all.distances[0][2], 2);
  EXPECT_EQ(all.distances[1][2], 3);
  EXPECT_EQ(all.distances[2][1], 3);
}

TEST_F(NeighbourhoodOfScale, EndsWhereProblemsAreOutOfReach) {
  const NearbyBests all =
      ask("n=8192", {tuned("n=16384", 512), tuned("n=65536", 256), tuned("n=131072", 128)});
  EXPECT_EQ(all.problems(), 2U) << "three times as far as the nearest, and no further";
}

TEST_F(NeighbourhoodOfScale, OfManySessionsOfAProblemTheFastestAreKnown) {
  std::vector<BestRecord> bests;
  for (int session = 0; session < 10; ++session) {
    std::string listed;
    for (int i = 0; i < 64; ++i) {
      listed += fmt::format(R"({}{{"config":"vector:block_size={}","slowdown":{}}})",
                            i == 0 ? "" : ",", 1000 * (session + 1) + i, 1.5 + 0.1 * i);
    }
    bests.push_back(tuned("n=16384", 512, R"({"first":[)" + listed + "]}"));
    bests.back().session = session + 1;
  }
  const NearbyBests all = ask("n=8192", bests);
  EXPECT_EQ(all.problems(), 1U);
  EXPECT_EQ(all.configs.size(), kMaxKnown);
  EXPECT_EQ(all.observations.size(), kMaxKnown);
  for (const Observation& each : all.observations) EXPECT_LT(each.slowdown, 3) << "of 1 to 7.8";
}

TEST_F(NeighbourhoodOfScale, SessionsOnOneDeviceSpeakTogetherAndThoseOfTwoApart) {
  const auto sibling = [&](const std::string& name, std::int64_t block_size, double time_ns) {
    BestRecord best = tuned("n=16384", block_size);
    best.device_info.name = name;
    best.key.device = identity_of(best.device_info);
    best.time_ns = time_ns;
    return best;
  };
  // The newest session is not of the device that most are of.
  std::vector<BestRecord> bests = {sibling("fast", 256, 100), sibling("slow", 128, 500),
                                   sibling("fast", 512, 110)};
  bests[1].published_at = "2026-03-04T05:06:07Z";
  const NearbyBests all = ask("n=8192", bests);
  EXPECT_EQ(all.problems(), 2U);
  EXPECT_EQ(all.distances[1][2], kSiblingApart);
  std::map<std::string, double> slowdowns;
  for (const Observation& each : all.observations) {
    slowdowns[all.configs[each.site.config]] = each.slowdown;
  }
  EXPECT_DOUBLE_EQ(slowdowns["vector:block_size=128"], 1) << "500 ns is the best there is on it";
  EXPECT_DOUBLE_EQ(slowdowns["vector:block_size=256"], 1);
  EXPECT_DOUBLE_EQ(slowdowns["vector:block_size=512"], 1.1);
}

TEST_F(NeighbourhoodOfScale, WhatOneBlockDidAloneIsUnsure) {
  const NearbyBests all = ask("n=1100", {tuned("n=1024", 1024), tuned("n=2048", 512)});
  ASSERT_EQ(all.observations.size(), 2U);
  EXPECT_EQ(all.observations[0].noise, kOneBlockNoise) << "two blocks of 1024 for 1100 elements";
  EXPECT_EQ(all.observations[1].noise, kMeasuredNoise);
}

}  // namespace
}  // namespace kiln
