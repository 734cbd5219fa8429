// Neighbours of a problem, and configs to begin with.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/neighbours.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lookup/tiles.hpp"
#include "lookup/warm_start.hpp"
#include "spec/parse_spec.hpp"
#include "tests/db/scale.hpp"

namespace kiln {
namespace {

using test::some_device;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Neighbours: tuned problems near an untuned one forecast its best config.

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

// Warm start: which configs of problems and devices around a session begins with.

class WarmStart : public ::testing::Test {
 protected:
  BestRecord tuned(const std::string& problem, std::int64_t block_size,
                   const DeviceInfo& device = some_device()) const {
    return test::scale_best(spec_, problem, block_size, device);
  }
  static DeviceInfo other_device(const std::string& name, const std::string& vendor) {
    DeviceInfo device = some_device();
    device.name = name;
    device.vendor = vendor;
    device.architecture = "x1";
    return device;
  }
  /// "vector:block_size=64: the best of ..." of each.
  std::vector<std::string> ask(const std::string& problem, const std::vector<BestRecord>& bests,
                               std::size_t most = kWarmConfigs) const {
    std::vector<std::string> texts;
    for (const WarmConfig& warm :
         warm_configs({spec_, Problem::parse(spec_, problem), some_device()}, bests, most)) {
      texts.push_back(warm.config.text() + ": " + warm.from);
    }
    return texts;
  }

  KernelSpec spec_ = test::scale_spec();
};

TEST_F(WarmStart, IsEmptyWhereNothingIsKnown) { EXPECT_THAT(ask("n=4096", {}), IsEmpty()); }

TEST_F(WarmStart, GoesFromThisProblemToOtherDevices) {
  const std::vector<BestRecord> bests = {tuned("n=4096", 1024, other_device("Older GPU", "nvidia")),
                                         tuned("n=65536", 512), tuned("n=2048", 256),
                                         tuned("n=4096", 128)};
  EXPECT_THAT(ask("n=4096", bests),
              ElementsAre("vector:block_size=128: the best of this problem on this device",
                          "vector:block_size=1024: the best of this problem on Older GPU",
                          "vector:block_size=256: the best of n=2048 on this device",
                          "vector:block_size=512: the best of n=65536 on this device"));
}

TEST_F(WarmStart, AsksDevicesOfOtherVendorsAndBackendsLast) {
  DeviceInfo opencl = some_device();
  opencl.backend = "opencl";
  EXPECT_THAT(ask("n=4096", {tuned("n=2048", 128, other_device("Other GPU", "other")),
                             tuned("n=4096", 256, opencl),
                             tuned("n=1048576", 512, other_device("Older GPU", "nvidia"))}),
              ElementsAre("vector:block_size=512: the best of n=1048576 on Older GPU",
                          "vector:block_size=256: the best of this problem on Test GPU (opencl)",
                          "vector:block_size=128: the best of n=2048 on Other GPU"));
}

// The bests of both are slow with the other; what both measured is not.
TEST_F(WarmStart, BeginsWithWhatTheProblemsAroundTogetherExpectTheMostOf) {
  const auto with_close = [](BestRecord best, std::int64_t solid, std::int64_t slow) {
    const auto entry = [](std::int64_t block_size, double slowdown) {
      return Json{{"config", fmt::format("vector:block_size={}", block_size)},
                  {"slowdown", slowdown}};
    };
    best.evidence = Json{{"close", {entry(solid, 1.02), entry(slow, 1.2)}}}.dump();
    return best;
  };
  EXPECT_THAT(
      ask("n=6144",
          {with_close(tuned("n=4096", 512), 256, 64), with_close(tuned("n=16384", 64), 256, 512)}),
      ElementsAre(
          "vector:block_size=256: forecast from 2 nearby problems: 1.26 times the best time",
          "vector:block_size=512: the best of n=4096 on this device",
          "vector:block_size=64: the best of n=16384 on this device"));
}

TEST_F(WarmStart, AsksNoCpuAboutAGpu) {
  DeviceInfo cpu = other_device("A CPU", "cpu");
  cpu.is_cpu = true;
  EXPECT_THAT(ask("n=4096", {tuned("n=4096", 128, cpu)}), IsEmpty());
}

TEST_F(WarmStart, NamesEachConfigOnce) {
  EXPECT_THAT(ask("n=4096", {tuned("n=2048", 256), tuned("n=8192", 256), tuned("n=16384", 256)}),
              ElementsAre("vector:block_size=256: the best of n=2048 on this device"));
}

TEST_F(WarmStart, LeavesOutWhatIsIllegalHere) {
  EXPECT_THAT(ask("n=200", {tuned("n=4096", 1024), tuned("n=2048", 128)}),
              ElementsAre("vector:block_size=128: the best of n=2048 on this device"))
      << "a block of 1024 has no work";
}

TEST_F(WarmStart, EndsWithWhatCameCloseToTheBest) {
  BestRecord best = tuned("n=2048", 256);
  best.evidence =
      R"({"close": [{"config": "vector:block_size=128", "slowdown": 1.01},)"
      R"( {"config": "vector:block_size=64", "slowdown": 1.3}, {"config": "gone:x=1", "slowdown": 1}]})";
  EXPECT_THAT(ask("n=4096", {best, tuned("n=1048576", 512)}),
              ElementsAre("vector:block_size=256: the best of n=2048 on this device",
                          "vector:block_size=512: the best of n=1048576 on this device",
                          "vector:block_size=128: close to the best of n=2048 on this device"));
}

// Problem by problem it would be all of the nearest one's, which are much the same.
TEST_F(WarmStart, GoesRoundTheProblemsForWhatIsUnlike) {
  std::string text = test::kScaleSpec;
  text.insert(text.find("[[variants.constraints]]"),
              "[variants.tunables.unroll]\nvalues = [1, 4, 8]\ndefault = 1\n");
  spec_ = parse_spec(text, "scale/spec.toml");
  spec_.files["vector.inja"] = "the template";
  const auto with_close = [](BestRecord best, const std::vector<std::string>& close) {
    Json list = Json::array();
    for (const std::string& config : close) list.push_back({{"config", config}, {"slowdown", 1.1}});
    best.evidence = Json{{"close", list}}.dump();
    return best;
  };
  const std::vector<BestRecord> bests = {
      with_close(tuned("n=9000", 1024),
                 {"vector:block_size=512,unroll=1", "vector:block_size=128,unroll=4"}),
      with_close(tuned("n=2048", 256), {"vector:block_size=64,unroll=8"})};
  EXPECT_THAT(
      ask("n=4096", bests, 6),
      ElementsAre("vector:block_size=256,unroll=1: the best of n=2048 on this device",
                  "vector:block_size=64,unroll=8: forecast from 2 nearby problems: 1.59 times the "
                  "best time",
                  "vector:block_size=1024,unroll=1: the best of n=9000 on this device",
                  "vector:block_size=128,unroll=4: close to the best of n=9000 on this device",
                  "vector:block_size=512,unroll=1: close to the best of n=9000 on this device"))
      << "512 is a step from the best, and comes when nothing else is left";
}

TEST_F(WarmStart, IsShort) {
  std::vector<BestRecord> bests = {tuned("n=2048", 64), tuned("n=8192", 128),
                                   tuned("n=16384", 256)};
  EXPECT_EQ(ask("n=4096", bests, 2).size(), 2u);
  EXPECT_THAT(ask("n=4096", bests, 0), IsEmpty());
}

TEST_F(WarmStart, OriginsOfFinalistsAreKeptInTheEvidence) {
  const auto block = [](std::int64_t size) {
    return Config{"vector", {{"block_size", Value(size)}}};
  };
  const std::vector<WarmConfig> warm = {{block(32), "the best of n=1024 on this device"},
                                        {block(64), "the best of n=2048 on this device"}};
  Evidence evidence;
  add_warm_start(evidence, {});
  EXPECT_FALSE(evidence.warm_start) << "there was no warm start";
  for (const char* finalist : {"vector:block_size=128", "vector:block_size=64"}) {
    evidence.finalists.emplace_back().config = finalist;
  }
  add_warm_start(evidence, warm);
  ASSERT_EQ(evidence.warm_start->size(), 1U);
  EXPECT_EQ(evidence.warm_start->front().config, "vector:block_size=64");
  EXPECT_EQ(evidence.warm_start->front().from, "the best of n=2048 on this device");
}

TEST_F(WarmStart, DoesNotDependOnTheOrderOfRows) {
  std::vector<BestRecord> bests = {tuned("n=2048", 64), tuned("n=8192", 128), tuned("n=16384", 256),
                                   tuned("n=4096", 512),
                                   tuned("n=4096", 1024, other_device("Older GPU", "nvidia"))};
  const std::vector<std::string> first = ask("n=4096", bests);
  std::reverse(bests.begin(), bests.end());
  EXPECT_EQ(ask("n=4096", bests), first);
  std::swap(bests[0], bests[2]);
  EXPECT_EQ(ask("n=4096", bests), first);
}

}  // namespace
}  // namespace kiln
