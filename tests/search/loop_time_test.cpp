// The time of a described loop: each limit in turn, and the start of a search that follows it.
// SPDX-License-Identifier: Apache-2.0
#include "search/loop_time.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "search/prior.hpp"
#include "search/space.hpp"
#include "search/strategies/base/forecast_start.hpp"
#include "search/strategy.hpp"
#include "templates/library.hpp"

namespace kiln {
namespace {

// A loop of 1,000 rounds that is limited by nothing much; each test changes one number.
LoopNumbers easy_loop() {
  LoopNumbers loop{};
  loop.rounds = 1000;
  loop.flops = 4096.0 * 600;
  loop.flops_per_cycle = 4096;
  loop.copied = 1000;
  loop.read = 1000;
  loop.ahead = 8;
  loop.results = 1;
  return loop;
}

const LoopPlace kPlace{.cycles_per_ns = 2, .bytes_per_ns = 3000, .bytes = 1e6};

double time_of(const LoopNumbers& loop, const LoopPlace& place = kPlace) {
  return loop_time_ns(loop, place);
}

TEST(LoopTimeTest, GrowsWithTheArithmetic) {
  LoopNumbers loop = easy_loop();
  const double once = time_of(loop);
  loop.flops *= 2;
  EXPECT_NEAR(time_of(loop) / once, 2, 0.2);
  loop.flops_per_cycle *= 2;
  EXPECT_NEAR(time_of(loop), once, 0.01 * once);
}

TEST(LoopTimeTest, IsThatOfTheSlowestPart) {
  const double arithmetic = time_of(easy_loop());
  LoopNumbers loop = easy_loop();
  loop.read = 128 * 500;
  EXPECT_EQ(time_of(loop), arithmetic) << "hidden behind the arithmetic";
  loop.read = 128 * 1800;
  EXPECT_GT(time_of(loop), 2.5 * arithmetic);
  loop = easy_loop();
  loop.copied = 55 * 1800;
  EXPECT_GT(time_of(loop), 2.5 * arithmetic);
  loop = easy_loop();
  loop.ahead = 1;
  EXPECT_GT(time_of(loop), 3.5 * arithmetic) << "each round waits for its copies";
}

TEST(LoopTimeTest, SharesAUnitAmongItsBlocks) {
  LoopPlace two = kPlace;
  two.resident = 2;
  EXPECT_GT(time_of(easy_loop(), two), 1.8 * time_of(easy_loop()));
  LoopNumbers waiting = easy_loop();
  waiting.ahead = 1;
  EXPECT_EQ(time_of(waiting, two), time_of(waiting)) << "two blocks wait at the same time";
}

TEST(LoopTimeTest, CountsWavesStoresAndLaunches) {
  const double once = time_of(easy_loop());
  LoopPlace place = kPlace;
  place.waves = 2;
  EXPECT_GT(time_of(easy_loop(), place), 1.9 * once);
  place = kPlace;
  place.launches = 2;
  EXPECT_EQ(time_of(easy_loop(), place), once + 2000);
  LoopNumbers loop = easy_loop();
  loop.results = 100;
  EXPECT_GT(time_of(loop), once + 99 * 500);
  loop = easy_loop();
  loop.prepared = 75e6;
  EXPECT_NEAR(time_of(loop), once + 75e6 / (0.75 * 3000), 1);
}

TEST(LoopTimeTest, IsNeverFasterThanTheMemory) {
  LoopPlace place = kPlace;
  place.bytes = 3e9;
  EXPECT_GT(time_of(easy_loop(), place), 1e6);
}

class ForecastStart : public ::testing::Test {
 protected:
  std::vector<Config> start(const std::string& problem_text, const std::string& architecture) {
    const DeviceInfo device = device_for_architecture("cuda", architecture);
    const Problem problem = Problem::parse(spec_, problem_text);
    const Space space = Space::build({spec_, problem, device});
    const Prior prior({spec_, problem, device});
    Random random(1);
    std::vector<Config> configs;
    double last = 0;
    for (const std::size_t index : forecast_start(space, 10, random, prior)) {
      configs.push_back(space.at(index));
      const double time = prior.forecast(configs.back())->time_ns;
      EXPECT_GE(time, last) << configs.back().text();
      last = time;
    }
    return configs;
  }

  const KernelSpec spec_ = KernelLibrary().load("matmul");
};

TEST_F(ForecastStart, KnowsTilesForALargeProduct) {
  const std::vector<Config> configs = start("m=4096,n=4096,k=4096,dtype=bf16", "sm_90a");
  ASSERT_EQ(configs.size(), 10u);
  for (const Config& config : configs) {
    EXPECT_EQ(config.variant, "wgmma") << config.text();
    EXPECT_GE(std::get<std::int64_t>(*config.find("tile_m")) *
                  std::get<std::int64_t>(*config.find("tile_n")),
              128 * 128)
        << config.text();
  }
}

TEST_F(ForecastStart, KnowsNarrowTilesForFewRows) {
  const std::vector<Config> configs = start("m=16,n=4096,k=11008,dtype=f16,trans_b=true", "sm_90a");
  ASSERT_EQ(configs.size(), 10u);
  EXPECT_NE(std::find_if(configs.begin(), configs.begin() + 4,
                         [](const Config& config) {
                           return config.find("splits") != nullptr ||
                                  std::get<std::int64_t>(*config.find("tile_n")) <= 64;
                         }),
            configs.begin() + 4);
}

TEST_F(ForecastStart, HasNothingToSayWithoutADescribedLoop) {
  EXPECT_TRUE(start("m=1024,n=1024,k=1024,dtype=f64", "sm_90a").empty());
  EXPECT_TRUE(start("m=1024,n=1024,k=1024,dtype=f32", "sm_80").empty());
}

TEST_F(ForecastStart, LeadsASearch) {
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem problem = Problem::parse(spec_, "m=4096,n=4096,k=4096,dtype=bf16");
  const Space space = Space::build({spec_, problem, device});
  const Prior prior({spec_, problem, device});
  const auto strategy = make_strategy("auto", space, 1, &prior);
  const std::size_t defaults = space.default_indices().size();
  std::size_t of_wgmma = 0;
  for (std::size_t i = 0; i < defaults + 10; ++i) {
    const Config config = space.at(*strategy->ask());
    if (i >= defaults && config.variant == "wgmma") ++of_wgmma;
  }
  EXPECT_EQ(of_wgmma, 10u);
}

}  // namespace
}  // namespace kiln
