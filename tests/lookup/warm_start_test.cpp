// Warm start: which configs of problems and devices around a session begins with.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/warm_start.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/parse_spec.hpp"
#include "tests/db/scale.hpp"

namespace kiln {
namespace {

using test::some_device;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
      ElementsAre("vector:block_size=256: forecast by 2 problems around: 1.26 times the best time",
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
      ElementsAre(
          "vector:block_size=256,unroll=1: the best of n=2048 on this device",
          "vector:block_size=64,unroll=8: forecast by 2 problems around: 1.59 times the best time",
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
