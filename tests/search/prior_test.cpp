// The prior: what a launch's shape says of a config, worked out by hand, and what a start makes of
// it.
// SPDX-License-Identifier: Apache-2.0
#include "search/prior.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "search/strategy.hpp"
#include "spec/parse_spec.hpp"

namespace kiln {
namespace {

const char* const kCopySpec = R"toml(name = "copy"
problem.n = { type = "int" }
arguments = [{ name = "out", access = "write", dtype = "f32", shape = ["n"] }]
[verify]
reference = "copy"
[cost]
bytes = "8 * n"
[[variants]]
name = "plain"
template = "plain.inja"
tunables.threads = { values = [32, 48, 256, 1024], default = 256 }
tunables.blocks = { values = [1, 2, 4, 8, 16, 32, 54, 108, 432, 4096], default = 432 }
tunables.shared_kib = { values = [0, 40, 90], default = 0 }
tunables.cleared = { values = [false, true], default = false }
[[variants.steps]]
clear = "out"
when = "cleared"
[[variants.steps]]
entry = "copy"
grid = ["blocks"]
block = ["threads"]
shared_bytes = "shared_kib * 1024"
arguments = ["out"]
)toml";

class CopyPrior : public ::testing::Test {
 protected:
  Config config(const std::string& text) { return Setting(spec_, problem_, device_).parse(text); }
  Forecast forecast(const std::string& text) {
    const std::optional<Forecast> found = prior_.forecast(config(text));
    EXPECT_TRUE(found) << text;
    return found.value_or(Forecast{});
  }

  const KernelSpec spec_ = parse_spec(kCopySpec, "copy.toml");
  const Problem problem_ = Problem::parse(spec_, "n=2^28");
  const DeviceInfo device_ = [] {
    DeviceInfo device = device_for_architecture("cuda", "sm_80");
    device.compute_units = 108;
    device.max_threads_per_unit = 2048;
    device.shared_bytes_per_unit = 164 * 1024;
    device.max_shared_bytes_optin = 160 * 1024;
    return device;
  }();
  const Prior prior_{{spec_, problem_, device_}};
};

TEST_F(CopyPrior, CountsWhatABlockUsesOfItsWarps) {
  EXPECT_EQ(forecast("plain:threads=48").lanes, 0.75);
  EXPECT_EQ(forecast("plain:threads=256").lanes, 1);
}

TEST_F(CopyPrior, CountsTheComputeUnitsThatHaveWork) {
  EXPECT_EQ(forecast("plain:blocks=54").units, 0.5);
  EXPECT_EQ(forecast("plain:blocks=4096").units, 1);
}

TEST_F(CopyPrior, CountsTheThreadsThatFitBesideEachOther) {
  EXPECT_EQ(forecast("plain:threads=256,blocks=4096").threads_per_unit, 2048);
  EXPECT_EQ(forecast("plain:threads=32,blocks=4096").threads_per_unit, 1024) << "32 blocks";
  EXPECT_EQ(forecast("plain:threads=48,blocks=4096").threads_per_unit, 32 * 48);
  EXPECT_EQ(forecast("plain:threads=256,blocks=432").threads_per_unit, 1024) << "4 blocks each";
  EXPECT_EQ(forecast("plain:threads=256,blocks=4096,shared_kib=40").threads_per_unit, 1024);
  EXPECT_EQ(forecast("plain:threads=256,blocks=4096,shared_kib=90").threads_per_unit, 256);
}

TEST_F(CopyPrior, CountsWhatACompiledConfigTakesOfAUnit) {
  const Config wide = config("plain:threads=256,blocks=4096");
  Binary binary;
  EXPECT_EQ(prior_.forecast(wide, binary)->threads_per_unit, 2048) << "nothing is known";
  binary.registers = 128;
  EXPECT_EQ(prior_.forecast(wide, binary)->threads_per_unit, 512);
  binary.registers = 32;
  binary.shared_bytes = 80 * 1024;
  EXPECT_EQ(prior_.forecast(wide, binary)->threads_per_unit, 512);
  const Config narrow = config("plain:threads=32,blocks=4096");
  binary.shared_bytes = 160 * 1024;
  EXPECT_EQ(prior_.forecast(narrow, binary)->threads_per_unit, 32);
  EXPECT_GT(prior_.forecast(narrow, binary)->time_ns, prior_.forecast(narrow)->time_ns);
}

TEST_F(CopyPrior, ExpectsMoreTimeOfACompiledConfigThatSpills) {
  const Config plain = config("plain:threads=256");
  Binary binary;
  binary.registers = 32;
  binary.spill_bytes = 0;
  const Forecast whole = prior_.forecast(plain, binary).value();
  EXPECT_EQ(whole.time_ns, forecast("plain:threads=256").time_ns);
  binary.spill_bytes = 16;  // one in sixteen of 256
  EXPECT_DOUBLE_EQ(prior_.forecast(plain, binary)->time_ns, 1.0625 * whole.time_ns);
  binary.spill_bytes = 512;  // a hundred registers and more
  const Forecast spilled = prior_.forecast(plain, binary).value();
  EXPECT_DOUBLE_EQ(spilled.time_ns, 3 * whole.time_ns);

  Hopes hopes;
  hopes.add(spilled);
  EXPECT_FALSE(hopes.is_hopeless(spilled)) << "nothing better is known";
  hopes.add(whole);
  EXPECT_TRUE(hopes.is_hopeless(spilled));
  EXPECT_FALSE(hopes.is_hopeless(whole));
}

TEST_F(CopyPrior, BoundsTheBytesUnderWay) {
  EXPECT_EQ(forecast("plain:threads=256,blocks=432").bytes_in_flight, 1024 * 64);
  const Prior small({spec_, Problem::parse(spec_, "n=110592"), device_});
  EXPECT_EQ(small.forecast(config("plain:threads=256,blocks=432"))->bytes_in_flight, 1024 * 8)
      << "a thread has no more than its 8 bytes to move";
}

TEST_F(CopyPrior, ForecastsMoreTimeForLessOfTheDevice) {
  const double full = forecast("plain:threads=256,blocks=432").time_ns;
  EXPECT_GT(forecast("plain:threads=256,blocks=54").time_ns, 1.9 * full);
  EXPECT_GT(forecast("plain:threads=32,blocks=1").time_ns, 100 * full);
  EXPECT_EQ(forecast("plain:threads=1024,blocks=4096").time_ns, full)
      << "more than enough is as good as enough";
}

TEST_F(CopyPrior, ForecastsTheTimeOfEachStep) {
  const Forecast one = forecast("plain:cleared=false");
  const Forecast two = forecast("plain:cleared=true");
  EXPECT_EQ(one.steps, 1u);
  EXPECT_EQ(two.steps, 2u);
  EXPECT_GT(two.time_ns, one.time_ns);
}

TEST_F(CopyPrior, ExpectsOfACpuThatItNeedsNoThreadsToHideLatencies) {
  DeviceInfo cpu = device_;
  cpu.is_cpu = true;
  const Prior prior({spec_, problem_, cpu});
  EXPECT_EQ(prior.forecast(config("plain:threads=32,blocks=108"))->time_ns,
            prior.forecast(config("plain:threads=1024,blocks=4096"))->time_ns);
}

TEST_F(CopyPrior, SaysNothingOfAnIllegalConfig) {
  Config illegal = config("plain:threads=256");
  illegal.values[2].second = Value(std::int64_t{170});
  EXPECT_EQ(prior_.forecast(illegal), std::nullopt);
}

TEST_F(CopyPrior, LeavesHopelessConfigsOutOfTheStartOfAutoAndBayesian) {
  const Space space = Space::build({spec_, problem_, device_});
  const auto hopeless_at_start = [&](const std::string& strategy, const Prior* prior) {
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto running = make_strategy(strategy, space, seed, prior);
      (void)running->ask();  // the default config
      for (int i = 0; i < 8; ++i) {
        const Forecast found = *prior_.forecast(space.at(*running->ask()));
        count += found.time_ns > 2.5 * forecast("plain:threads=256,blocks=432").time_ns ? 1 : 0;
      }
    }
    return count;
  };
  for (const char* const strategy : {"auto", "bayesian"}) {
    EXPECT_EQ(hopeless_at_start(strategy, &prior_), 0) << strategy;
    EXPECT_GT(hopeless_at_start(strategy, nullptr), 30) << strategy << " without a prior, of 80";
  }
}

TEST_F(CopyPrior, ForbidsNothing) {
  const Space space = Space::build({spec_, problem_, device_});
  for (const StrategyInfo& info : strategies()) {
    const auto strategy = make_strategy(info.name, space, 1, &prior_);
    std::set<std::size_t> asked;
    while (const auto index = strategy->ask()) {
      asked.insert(*index);
      Trial trial;
      trial.config = space.at(*index);
      trial.time_ns = 100;
      strategy->tell(*index, trial);
    }
    EXPECT_EQ(asked.size(), space.size()) << info.name;
  }
}

TEST_F(CopyPrior, KeepsEnoughConfigsWhereAllButOneAreHopeless) {
  const Space space = Space::build({spec_, problem_, device_});
  const auto at = [&](const std::string& text) { return *space.index_of(config(text)); };
  const std::vector<std::size_t> indices = {
      at("plain:threads=32,blocks=1"), at("plain:threads=256,blocks=432"),
      at("plain:threads=32,blocks=16"), at("plain:threads=32,blocks=8")};
  EXPECT_EQ(hopeful(prior_, space, indices, 0), (std::vector<std::size_t>{indices[1]}));
  EXPECT_EQ(hopeful(prior_, space, indices, 3),
            (std::vector<std::size_t>{indices[1], indices[2], indices[3]}))
      << "in their order";
  EXPECT_EQ(hopeful(prior_, space, indices, 9), indices);
  EXPECT_TRUE(hopeful(prior_, space, {}, 3).empty());
}

}  // namespace
}  // namespace kiln
