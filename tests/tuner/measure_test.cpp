// The measuring protocol on a device of paper: what runs, how often, and what is flushed.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace kiln {
namespace {

class PaperModule final : public Module {};

/// Runs take a known time on a clock of its own; a fill longer than a page is a flush. The meter of
/// energy counts 100 W and moves in steps of 10 mJ.
class PaperDevice final : public Device {
 public:
  PaperDevice() { info_.l2_bytes = 1 << 20; }
  const DeviceInfo& info() const override { return info_; }
  void set_cpu() { info_.is_cpu = true; }
  Result<Buffer> allocate(std::size_t bytes) override { return Buffer{1, bytes, 0}; }
  void release(Buffer) override {}
  Status upload(Buffer, std::size_t, std::span<const std::byte>) override { return Done{}; }
  Status download(Buffer, std::size_t, std::span<std::byte>) override { return Done{}; }
  Status copy(Buffer, std::size_t, Buffer, std::size_t, std::size_t) override { return Done{}; }
  Status fill(Buffer, std::size_t, std::size_t bytes, std::uint8_t) override {
    flushed_bytes = bytes;
    now_ns_ += 5000;
    cold_ = true;
    return Done{};
  }
  Result<std::unique_ptr<Module>> load(const Binary&) override {
    return std::unique_ptr<Module>(std::make_unique<PaperModule>());
  }
  Status launch(const Launch& launch) override {
    ++runs;
    (cold_ ? cold_runs : warm_runs) += 1;
    now_ns_ += (launch.entry == "slow" ? 10 : 1) * run_ns * (cold_ ? 2 : 1);
    cold_ = false;
    return Done{};
  }
  Result<EventId> record() override {
    events_.push_back(now_ns_);
    return static_cast<EventId>(events_.size() - 1);
  }
  Result<double> elapsed_ns(EventId from, EventId to) override {
    return events_.at(to) - events_.at(from);
  }
  Status synchronize() override { return Done{}; }
  void use_queue(void*) override {}
  ClockState clock_state() override { return {1980000, 3201000, 60, 500000, true, "power_cap"}; }
  std::string energy_unavailable() override { return ""; }
  std::optional<double> energy_j() override {
    return has_meter ? std::optional(std::floor(now_ns_ * 100e-9 / 0.01) * 0.01) : std::nullopt;
  }

  double run_ns = 1000;
  bool has_meter = true;
  int runs = 0;
  int cold_runs = 0;
  int warm_runs = 0;
  std::size_t flushed_bytes = 0;

 private:
  DeviceInfo info_;
  double now_ns_ = 0;
  bool cold_ = false;
  std::vector<double> events_;
};

class MeasureTest : public testing::Test {
 protected:
  [[nodiscard]] LaunchSequence sequence(const std::string& entry) {
    LaunchPlan plan;
    StepPlan step;
    step.entry = entry;
    plan.steps = {step};
    return {plan, module_, [](const std::string&) -> const Buffer* { return nullptr; }};
  }
  [[nodiscard]] static MeasureOptions options(bool cold) {
    MeasureOptions made;
    made.cold_cache = cold;
    made.warm_up_ns = 0;
    made.energy_ns = 5e6;
    return made;
  }

  PaperModule module_;
  PaperDevice device_;
};

TEST_F(MeasureTest, AColdSampleIsOneRunAfterAFlushOfTwiceTheCache) {
  const Samples samples = *Measurer(device_, options(true)).measure(sequence("quick"), 1000, 0);
  EXPECT_TRUE(samples.cold_cache);
  EXPECT_EQ(samples.batch, 1);
  EXPECT_EQ(device_.warm_runs, 0) << "each sample finds a flushed cache";
  EXPECT_EQ(device_.cold_runs, static_cast<int>(samples.ns.size()));
  EXPECT_EQ(samples.ns.front(), 2000);
  EXPECT_EQ(device_.flushed_bytes, std::size_t{8} << 20) << "the least there is";
}

TEST_F(MeasureTest, WarmRunsTooShortForTheTimerAreBatched) {
  const Samples samples = *Measurer(device_, options(false)).measure(sequence("quick"), 1000, 0);
  EXPECT_FALSE(samples.cold_cache);
  EXPECT_EQ(samples.batch, 50) << "50 us a sample";
  EXPECT_EQ(device_.runs, static_cast<int>(samples.ns.size()) * 50);
  EXPECT_EQ(samples.ns.front(), 1000) << "a sample is the mean of its runs";
  EXPECT_EQ(device_.flushed_bytes, 0U);
}

TEST_F(MeasureTest, ALongRunIsASampleOfItsOwn) {
  const Samples samples = *Measurer(device_, options(false)).measure(sequence("quick"), 1e6, 0);
  EXPECT_EQ(samples.batch, 1);
}

TEST_F(MeasureTest, TellsHowTheDeviceRanMeanwhile) {
  const Samples samples = *Measurer(device_, options(true)).measure(sequence("quick"), 1000, 0);
  EXPECT_EQ(samples.clock_khz_after, 1980000);
  EXPECT_EQ(samples.memory_clock_khz, 3201000);
  EXPECT_EQ(samples.temperature_c, 60);
  EXPECT_EQ(samples.power_mw, 500000);
  EXPECT_TRUE(samples.throttled);
  EXPECT_EQ(samples.throttle, "power_cap");
}

TEST_F(MeasureTest, ASlowConfigIsDroppedAfterAFewSamplesButNeverAfterOne) {
  const Samples samples = *Measurer(device_, options(true)).measure(sequence("slow"), 10000, 2000);
  EXPECT_TRUE(samples.dropped_early);
  EXPECT_GE(samples.ns.size(), 2U);
  EXPECT_LT(samples.ns.size(), 5U);
}

TEST_F(MeasureTest, AHopelessConfigRunsTwiceAfterItsFirstCheck) {
  const auto look = Measurer(device_, options(true)).first_look(sequence("slow"), 2000);
  ASSERT_TRUE(look);
  ASSERT_TRUE(look->hopeless.has_value());
  EXPECT_EQ(look->hopeless->ns, (std::vector<double>{20000, 20000}));
  EXPECT_TRUE(look->hopeless->dropped_early);
  EXPECT_EQ(look->hopeless->throttle, "power_cap");
  EXPECT_EQ(look->runs, 2);
  EXPECT_EQ(device_.runs, 2);
}

TEST_F(MeasureTest, AFirstLookAtAContenderIsItsWarmUp) {
  const auto look = Measurer(device_, options(true)).first_look(sequence("quick"), 2000);
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->hopeless.has_value());
  EXPECT_EQ(look->run_ns, 2000);
  EXPECT_EQ(device_.runs, 2);
}

TEST_F(MeasureTest, NothingIsHopelessWithoutARace) {
  MeasureOptions no_race = options(true);
  no_race.race = false;
  EXPECT_FALSE(Measurer(device_, no_race).first_look(sequence("slow"), 2000)->hopeless);
  EXPECT_FALSE(Measurer(device_, options(true)).first_look(sequence("slow"), 0)->hopeless);
}

TEST_F(MeasureTest, ACpuIsTooNoisyToGiveAConfigUpForAFewPerCent) {
  device_.set_cpu();
  EXPECT_FALSE(Measurer(device_, options(true)).first_look(sequence("slow"), 10000)->hopeless)
      << "twice as slow";
  EXPECT_TRUE(Measurer(device_, options(true)).first_look(sequence("slow"), 2000)->hopeless)
      << "ten times as slow";
}

TEST_F(MeasureTest, WithoutTheRaceASlowConfigIsMeasuredInFull) {
  MeasureOptions no_race = options(true);
  no_race.race = false;
  const Samples samples = *Measurer(device_, no_race).measure(sequence("slow"), 10000, 2000);
  EXPECT_FALSE(samples.dropped_early);
  EXPECT_GE(samples.ns.size(), 5U);
}

TEST_F(MeasureTest, EnergyIsThatOfOneRun) {
  const Result<double> joules =
      Measurer(device_, options(true)).measure_energy(sequence("quick"), 1000);
  ASSERT_TRUE(joules);
  EXPECT_NEAR(*joules, 1e-4, 2e-6) << "100 W for 1 us";
}

TEST_F(MeasureTest, AMeterThatFallsSilentIsAFailure) {
  device_.has_meter = false;
  const Result<double> joules =
      Measurer(device_, options(true)).measure_energy(sequence("quick"), 1000);
  ASSERT_FALSE(joules);
  EXPECT_EQ(joules.failure().message, "the meter of energy does not answer");
}

TEST_F(MeasureTest, RoundsGoInTurnAndTellTheEnergyWhereItIsAskedFor) {
  MeasureOptions metered = options(true);
  metered.energy = true;
  const LaunchSequence quick = sequence("quick");
  const LaunchSequence slow = sequence("slow");
  const std::vector<const LaunchSequence*> both = {&quick, &slow};
  const Result<Measurer::Rounds> rounds =
      Measurer(device_, metered).measure_in_turn(both, {2, 2, 0});
  ASSERT_TRUE(rounds);
  EXPECT_EQ(rounds->ns[0], (std::vector<double>{2000, 2000}));
  EXPECT_EQ(rounds->ns[1], (std::vector<double>{20000, 20000}));
  ASSERT_EQ(rounds->energy_j[1].size(), 2U);
  EXPECT_NEAR(rounds->energy_j[1][0] / rounds->energy_j[0][0], 10, 0.5);
}

}  // namespace
}  // namespace kiln
