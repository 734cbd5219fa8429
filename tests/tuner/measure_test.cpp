// Launches and their samples.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/measure.hpp"

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paper_device.hpp"
#include "tuner/checks/launch_sequence.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;

// The measuring protocol on a device of paper: what runs, how often, and what is flushed.

class MeasureTest : public testing::Test {
 protected:
  [[nodiscard]] LaunchSequence sequence(const std::string& entry) {
    return paper_sequence(entry, module_);
  }
  [[nodiscard]] static MeasureOptions options(bool cold) {
    MeasureOptions made;
    made.cold_cache = cold;
    made.warm_up_ns = 0;
    made.energy_ns = 5e6;
    return made;
  }

  [[nodiscard]] static Measurer::FirstLook look_of(double run_ns) {
    Measurer::FirstLook look;
    look.run_ns = run_ns;
    return look;
  }

  PaperModule module_;
  PaperDevice device_;
};

TEST_F(MeasureTest, AColdSampleIsOneRunAfterAFlushOfTwiceTheCache) {
  const Samples samples =
      *Measurer(device_, options(true)).measure(sequence("quick"), look_of(1000), 0);
  EXPECT_TRUE(samples.cold_cache);
  EXPECT_EQ(samples.batch, 1);
  EXPECT_EQ(device_.warm_runs, 0) << "each sample finds a flushed cache";
  EXPECT_EQ(device_.cold_runs, static_cast<int>(samples.ns.size()));
  EXPECT_EQ(samples.ns.front(), 2000);
  EXPECT_EQ(device_.flushed_bytes, std::size_t{8} << 20) << "the least there is";
}

TEST_F(MeasureTest, ACacheBehindTheL2IsFlushedToo) {
  device_.become(device_for_architecture("hip", "gfx942"));  // 4 MiB of L2, 256 MiB behind it
  ASSERT_TRUE(Measurer(device_, options(true)).measure(sequence("quick"), look_of(1000), 0));
  EXPECT_EQ(device_.flushed_bytes, std::size_t{512} << 20);
}

TEST_F(MeasureTest, WarmRunsTooShortForTheTimerAreBatched) {
  const Samples samples =
      *Measurer(device_, options(false)).measure(sequence("quick"), look_of(1000), 0);
  EXPECT_FALSE(samples.cold_cache);
  EXPECT_EQ(samples.batch, 50) << "50 us a sample";
  EXPECT_EQ(device_.runs, static_cast<int>(samples.ns.size()) * 50);
  EXPECT_EQ(samples.ns.front(), 1000) << "a sample is the mean of its runs";
  EXPECT_EQ(device_.flushed_bytes, 0U);
}

TEST_F(MeasureTest, ALongRunIsASampleOfItsOwn) {
  const Samples samples =
      *Measurer(device_, options(false)).measure(sequence("quick"), look_of(1e6), 0);
  EXPECT_EQ(samples.batch, 1);
}

TEST_F(MeasureTest, TellsHowTheDeviceRanMeanwhile) {
  const Samples samples =
      *Measurer(device_, options(true)).measure(sequence("quick"), look_of(1000), 0);
  EXPECT_EQ(samples.clock_khz_after, 1980000);
  EXPECT_EQ(samples.memory_clock_khz, 3201000);
  EXPECT_EQ(samples.temperature_c, 60);
  EXPECT_EQ(samples.power_mw, 500000);
  EXPECT_TRUE(samples.throttled);
  EXPECT_EQ(samples.throttle, "power_cap");
}

TEST_F(MeasureTest, AConfigThatIsFarOffRunsOnceAfterItsFirstCheck) {
  const auto look = Measurer(device_, options(true)).first_look(sequence("slow"), 25000, 2000);
  ASSERT_TRUE(look);
  EXPECT_TRUE(look->hopeless);
  EXPECT_EQ(look->samples.ns, (std::vector<double>{20000}));
  EXPECT_TRUE(look->samples.dropped_early);
  EXPECT_EQ(look->samples.first_run_ns, 25000) << "its first check";
  EXPECT_EQ(look->samples.throttle, "power_cap");
  EXPECT_EQ(look->untimed_runs, 0);
  EXPECT_EQ(device_.runs, 1);
}

TEST_F(MeasureTest, OneSlowSampleAfterAFastCheckMayBeAMishap) {
  const auto look = Measurer(device_, options(true)).first_look(sequence("slow"), 2100, 2000);
  ASSERT_TRUE(look);
  EXPECT_TRUE(look->hopeless);
  EXPECT_EQ(look->samples.ns, (std::vector<double>{20000, 20000})) << "the second one tells";
}

TEST_F(MeasureTest, AContendersFirstSamplesCount) {
  Measurer measurer(device_, options(true));
  Result<Measurer::FirstLook> look = measurer.first_look(sequence("quick"), 3000, 2010);
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->hopeless);
  EXPECT_EQ(look->run_ns, 2000);
  EXPECT_EQ(device_.runs, 2);
  const Samples samples = *measurer.measure(sequence("quick"), std::move(*look), 2010);
  EXPECT_EQ(samples.ns.size(), 6U) << "a full set";
  EXPECT_EQ(device_.runs, 6) << "those of the first look among them";
  EXPECT_EQ(samples.throttle, "power_cap");
  EXPECT_EQ(samples.clock_khz_before, 1980000);
  EXPECT_EQ(samples.first_run_ns, 3000);
}

TEST_F(MeasureTest, AConfigThatDoesNotLeadIsSampledLess) {
  Measurer measurer(device_, options(true));
  Result<Measurer::FirstLook> look = measurer.first_look(sequence("quick"), 3000, 1990);
  ASSERT_TRUE(look);
  const Samples samples = *measurer.measure(sequence("quick"), std::move(*look), 1990);
  EXPECT_EQ(samples.ns.size(), 4U);
  EXPECT_FALSE(samples.dropped_early);
}

TEST_F(MeasureTest, NothingIsHopelessWithoutARace) {
  MeasureOptions no_race = options(true);
  no_race.race = false;
  EXPECT_FALSE(Measurer(device_, no_race).first_look(sequence("slow"), 20000, 2000)->hopeless);
  const auto first = Measurer(device_, options(true)).first_look(sequence("slow"), 20000, 0);
  EXPECT_FALSE(first->hopeless);
  EXPECT_EQ(first->untimed_runs, 3);
  EXPECT_TRUE(first->samples.ns.empty());
}

TEST_F(MeasureTest, ACpuIsTooNoisyToGiveAConfigUpForAFewPerCentOrAfterOneSample) {
  device_.set_cpu();
  EXPECT_FALSE(
      Measurer(device_, options(true)).first_look(sequence("slow"), 20000, 10000)->hopeless)
      << "twice as slow";
  const auto look = Measurer(device_, options(true)).first_look(sequence("slow"), 20000, 2000);
  EXPECT_TRUE(look->hopeless) << "ten times as slow";
  EXPECT_EQ(look->samples.ns.size(), 2U);
}

TEST_F(MeasureTest, WithoutTheRaceASlowConfigIsMeasuredInFull) {
  MeasureOptions no_race = options(true);
  no_race.race = false;
  const Samples samples =
      *Measurer(device_, no_race).measure(sequence("slow"), look_of(10000), 2000);
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
  const std::vector<const DeviceWork*> both = {&quick, &slow};
  const Result<Measurer::Rounds> rounds =
      Measurer(device_, metered).measure_in_turn(both, {2, 2, 0});
  ASSERT_TRUE(rounds);
  EXPECT_EQ(rounds->ns[0], (std::vector<double>{2000, 2000}));
  EXPECT_EQ(rounds->ns[1], (std::vector<double>{20000, 20000}));
  ASSERT_EQ(rounds->energy_j[1].size(), 2U);
  EXPECT_NEAR(rounds->energy_j[1][0] / rounds->energy_j[0][0], 10, 0.5);
  const Result<Measurer::Rounds> times =
      Measurer(device_, metered).measure_in_turn(both, {2, 2, 0, false});
  ASSERT_TRUE(times);
  EXPECT_EQ(times->ns, rounds->ns);
  EXPECT_TRUE(times->energy_j.empty()) << "only times were asked for";
}

TEST_F(MeasureTest, AWarmGraphHoldsRunsWithoutTheHostsGaps) {
  device_.gap_ns = 4000;
  MeasureOptions graph = options(false);
  graph.timing = Timing::graph;
  const Samples samples = *Measurer(device_, graph).measure(sequence("quick"), look_of(5000), 0);
  EXPECT_EQ(samples.batch, 80) << "400 us of what a run was estimated to take";
  EXPECT_EQ(samples.ns.front(), 1000) << "the run alone";
  EXPECT_EQ(device_.graphs, 1) << "captured once, replayed for each sample";
  EXPECT_EQ(device_.flushed_bytes, 0U);
  const Samples eager =
      *Measurer(device_, options(false)).measure(sequence("quick"), look_of(5000), 0);
  EXPECT_EQ(eager.ns.front(), 5000) << "the host's gap is part of what an eager run takes";
}

TEST_F(MeasureTest, AColdRunInAGraphIsWhatItAddsToTheFlushes) {
  device_.gap_ns = 4000;
  MeasureOptions graph = options(true);
  graph.timing = Timing::graph;
  const Samples samples = *Measurer(device_, graph).measure(sequence("quick"), look_of(5000), 0);
  EXPECT_EQ(samples.batch, 16);
  EXPECT_EQ(samples.ns.front(), 2000) << "each run finds a flushed cache, whose flush is not in it";
  EXPECT_EQ(device_.warm_runs, 0);
  EXPECT_EQ(device_.graphs, 2) << "the flushes alone, and with the runs";
}

TEST_F(MeasureTest, FinalsInAGraphCaptureEachConfigOnce) {
  MeasureOptions graph = options(true);
  graph.timing = Timing::graph;
  const LaunchSequence quick = sequence("quick");
  const LaunchSequence slow = sequence("slow");
  const std::array<const DeviceWork*, 2> both = {&quick, &slow};
  const Result<Measurer::Rounds> rounds = Measurer(device_, graph).measure_in_turn(both, {});
  ASSERT_TRUE(rounds);
  EXPECT_EQ(rounds->ns[0].front(), 2000);
  EXPECT_EQ(rounds->ns[1].front(), 20000);
  EXPECT_EQ(device_.graphs, 3) << "the flushes are shared";
}

TEST_F(MeasureTest, ARunThatCannotBeToldFromTheFlushIsNoSample) {
  device_.run_ns = 0;
  MeasureOptions graph = options(true);
  graph.timing = Timing::graph;
  const auto samples = Measurer(device_, graph).measure(sequence("quick"), look_of(5000), 0);
  ASSERT_FALSE(samples);
  EXPECT_EQ(
      samples.failure().message,
      "a cold run in a graph is too short to distinguish from the flush before it; measure it "
      "with a warm cache");
}

// Steps bound to buffers: tensor maps are encoded once for the buffers of a sequence, and a launch
// passes them.

/// Its maps begin with the address that they describe.
class MapDevice final : public PaperDevice {
 public:
  Result<TensorMapBytes> encode(const TensorMapPlan& plan, const Buffer& buffer) override {
    ++encoded;
    if (refused) return Failure{Outcome::launch_error, "refused: " + plan.name};
    TensorMapBytes map;
    const std::uintptr_t address = buffer.handle + buffer.offset;
    std::memcpy(map.bytes.data(), &address, sizeof address);
    return map;
  }
  Status launch(const Launch& launch) override {
    seen.clear();
    programmatic = launch.programmatic;
    for (const KernelArgument& argument : launch.arguments) {
      if (argument.kind != KernelArgument::Kind::tensor_map) continue;
      std::uintptr_t address = 0;
      std::memcpy(&address, argument.tensor_map->bytes.data(), sizeof address);
      seen.push_back(address);
    }
    return PaperDevice::launch(launch);
  }

  int encoded = 0;
  bool refused = false;
  bool programmatic = false;
  std::vector<std::uintptr_t> seen;  ///< addresses of the maps of the last launch
};

LaunchPlan plan_with_maps() {
  LaunchPlan plan;
  for (const char* name : {"a", "c"}) {
    BufferPlan& buffer = plan.buffers.emplace_back();
    buffer.name = name;
    buffer.count = 64;
    TensorMapPlan& map = plan.tensor_maps.emplace_back();
    map.name = std::string("map_") + name;
    map.buffer = name;
  }
  StepPlan& step = plan.steps.emplace_back();
  step.entry = "copy";
  step.arguments = {"map_c", "a", "map_a"};
  step.programmatic = true;
  return plan;
}

class Sequences : public ::testing::Test {
 protected:
  LaunchSequence bound_to(const Buffer& a, const Buffer& c) {
    return {plan_with_maps(), module_,
            [&](const std::string& name) { return name == "a" ? &a : &c; }};
  }

  MapDevice device_;
  PaperModule module_;
};

TEST_F(Sequences, EncodeTheMapsOfTheirBuffersOnce) {
  const LaunchSequence verify = bound_to({1000, 256, 0}, {2000, 256, 0});
  const LaunchSequence fenced = bound_to({3000, 256, 768}, {4000, 256, 0});
  EXPECT_EQ(device_.encoded, 0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(verify.enqueue(device_));
    EXPECT_THAT(device_.seen, ElementsAre(2000, 1000));
    ASSERT_TRUE(fenced.enqueue(device_));
    EXPECT_THAT(device_.seen, ElementsAre(4000, 3768));
    EXPECT_EQ(device_.encoded, 4) << "two maps for each of two sets of buffers";
  }
  EXPECT_TRUE(device_.programmatic);
}

TEST_F(Sequences, AMapThatCannotBeEncodedIsAFailureOfTheRun) {
  const LaunchSequence sequence = bound_to({1000, 256, 0}, {2000, 256, 0});
  device_.refused = true;
  const Status status = sequence.enqueue(device_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().message, "refused: map_c");
  EXPECT_EQ(device_.runs, 0);
}

}  // namespace
}  // namespace kiln
