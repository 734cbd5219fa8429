// Objectives and metrics: read from the spec, computed from trials, ordered by their goal.
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics.hpp"

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/setting.hpp"
#include "example_spec.hpp"
#include "spec/parse_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

constexpr const char* kMetrics = R"toml(
[metrics.bandwidth]
doc = "bytes that must move, a second"
unit = "GB/s"
goal = "maximise"
value = "cost.bytes / measured.time_ns"
[metrics.spilled]
value = "measured.spill_bytes"
[metrics.tile_area]
value = "tile_rows * tile_cols"
[metrics.delay]
unit = "J s"
value = "measured.energy_j * measured.time_ns * 1e-9"
)toml";

std::string error_of_metric(const std::string& more) {
  return test::error_of<InputError>(
      [&] { return parse_spec(std::string(test::kTransposeSpec) + more, "transpose/spec.toml"); },
      "no error");
}

class MetricsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Trial trial_of(const std::string& config, double time_ns) const {
    Trial trial;
    trial.config = Setting(spec_, problem_, device_).parse(config);
    trial.time_ns = time_ns;
    trial.spill_bytes = 0;
    return trial;
  }

  KernelSpec spec_ =
      parse_spec(std::string(test::kTransposeSpec) + kMetrics, "transpose/spec.toml");
  Problem problem_ = Problem::parse(spec_, "rows=1000");
  DeviceInfo device_ = device_for_architecture("cuda", "sm_90a");
  Metrics metrics_{{spec_, problem_, device_}};
};

TEST_F(MetricsTest, AreComputedFromWhatIsKnownOfTheTrial) {
  const auto values = metrics_.of(trial_of("tile:tile_rows=16,tile_cols=64", 1000));
  EXPECT_EQ(values, (std::map<std::string, double>{
                        {"bandwidth", 8000}, {"spilled", 0}, {"tile_area", 1024}}))
      << "no energy, so no delay";
}

TEST_F(MetricsTest, UseTheEnergyWhereItWasMeasured) {
  Trial trial = trial_of("tile", 2e9);
  trial.metrics["energy"] = 0.5;
  const auto values = metrics_.of(trial);
  EXPECT_EQ(values.at("energy"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("delay"), 1.0);
}

TEST_F(MetricsTest, HaveNoValueWhereATunableIsMissingOrTheTrialFailed) {
  EXPECT_EQ(metrics_.of(trial_of("naive", 1000)).count("tile_area"), 0U);
  Trial failed = trial_of("tile", 0);
  failed.outcome = Outcome::wrong_result;
  EXPECT_TRUE(metrics_.of(failed).empty());
  Trial unknown = trial_of("tile", 1000);
  unknown.spill_bytes = -1;
  EXPECT_EQ(metrics_.of(unknown).count("spilled"), 0U) << "the compiler did not tell";
}

TEST_F(MetricsTest, AnObjectiveIsTimeEnergyOrAMetric) {
  EXPECT_TRUE(find_objective(spec_, "time").is_time());
  EXPECT_TRUE(find_objective(spec_, "energy").needs_energy);
  EXPECT_TRUE(find_objective(spec_, "delay").needs_energy);
  const Objective bandwidth = find_objective(spec_, "bandwidth");
  EXPECT_EQ(bandwidth.goal, Goal::maximise);
  EXPECT_EQ(bandwidth.unit, "GB/s");
  EXPECT_FALSE(bandwidth.needs_energy);
  EXPECT_EQ(test::error_of<InputError>([&] { return find_objective(spec_, "bandwith"); }),
            "transpose has no objective 'bandwith'; did you mean 'bandwidth'? (it has: time, "
            "energy, bandwidth, spilled, tile_area, delay)");
}

TEST_F(MetricsTest, AScoreIsPositiveAndLessIsBetter) {
  const Objective most = find_objective(spec_, "bandwidth");
  EXPECT_LT(most.score(200), most.score(100));
  EXPECT_DOUBLE_EQ(most.value(most.score(200)), 200);
  const Objective least = find_objective(spec_, "spilled");
  EXPECT_LT(least.score(0), least.score(8));
  EXPECT_GT(least.score(0), 0);
  EXPECT_EQ(least.value(least.score(0)), 0);
}

TEST(MetricsOfASpec, AreRefusedWithTheirPlace) {
  EXPECT_NE(error_of_metric("\n[metrics.x]\nvalue = \"measured.tim_ns\"\n")
                .find("unknown name 'measured.tim_ns' in 'value' of metric 'x'; did you mean "
                      "'measured.time_ns'?"),
            std::string::npos);
  EXPECT_NE(error_of_metric("\n[metrics.x]\ngoal = \"least\"\nvalue = \"1\"\n")
                .find("'goal' must be minimise or maximise, not 'least'"),
            std::string::npos);
  EXPECT_NE(error_of_metric("\n[metrics.energy]\nvalue = \"1\"\n")
                .find("metric 'energy': the name is already taken"),
            std::string::npos);
  EXPECT_NE(error_of_metric("\n[metrics.x]\n").find("[metrics.x]"), std::string::npos);
}

}  // namespace
}  // namespace kiln
