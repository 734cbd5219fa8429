// Parts of a spec: loops, metrics, commands.
// SPDX-License-Identifier: Apache-2.0
#include "core/loop.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/command_spec.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"
#include "core/launch_plan.hpp"
#include "core/metrics.hpp"
#include "core/setting.hpp"
#include "core/spec.hpp"
#include "example_spec.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::spec_error;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// [variants.loop]: read from the spec, checked, and evaluated for a config.

std::string loop_spec(const std::string& loop) {
  return R"toml(name = "product"
[problem.n]
type = "int"
[[arguments]]
name = "out"
access = "write"
dtype = "f32"
shape = ["n"]
[verify]
reference = "product"
[[variants]]
name = "tiles"
template = "tiles.inja"
[variants.tunables.tile]
values = [32, 64]
default = 32
[[variants.steps]]
entry = "pack"
grid = [1]
block = [32]
arguments = ["out"]
[[variants.steps]]
entry = "multiply"
grid = ["n"]
block = [32]
arguments = ["out"]
[variants.loop]
)toml" + loop;
}

std::string loop_error(const std::string& loop) {
  return test::error_of<InputError>([&] { return parse_spec(loop_spec(loop), "product.toml"); },
                                    "no error");
}

std::optional<LoopNumbers> loop_numbers(const std::string& loop, const std::string& config) {
  const KernelSpec spec = parse_spec(loop_spec(loop), "product.toml");
  const DeviceInfo device = device_for_architecture("cuda", "sm_90a");
  const Problem problem = Problem::parse(spec, "n=1000");
  const Variant& variant = spec.variants.front();
  return evaluate(
      *variant.loop,
      Setting(spec, problem, device).scope(Setting(spec, problem, device).parse(config)));
}

TEST(LoopTest, HoldsTheNumbersOfAConfig) {
  const auto loop = loop_numbers(R"toml(entry = "multiply"
rounds = "ceil_div(n, tile)"
flops = "2 * tile * tile"
flops_per_cycle = 256
copied = "8 * tile"
ahead = 3
stored = "4.5 * tile"
)toml",
                                 "tiles:tile=64");
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->rounds, 16);
  EXPECT_EQ(loop->flops, 8192);
  EXPECT_EQ(loop->flops_per_cycle, 256);
  EXPECT_EQ(loop->copied, 512);
  EXPECT_EQ(loop->ahead, 3);
  EXPECT_EQ(loop->stored, 288);
  EXPECT_EQ(loop->read, 0);
  EXPECT_EQ(loop->results, 1);
  EXPECT_EQ(loop->prepared, 0);
  EXPECT_EQ(loop->registers, 0);
}

TEST(LoopTest, SaysNothingWithoutNumbers) {
  const std::string rest = "flops = 1\nflops_per_cycle = 1\nentry = \"multiply\"\n";
  EXPECT_TRUE(loop_numbers("rounds = \"n\"\n" + rest, "tiles"));
  EXPECT_FALSE(loop_numbers("rounds = \"n // (tile - 32)\"\n" + rest, "tiles:tile=32"));
  EXPECT_FALSE(loop_numbers("rounds = \"tile - n\"\n" + rest, "tiles:tile=32"));
}

TEST(LoopTest, RefusesWhatItDoesNotKnow) {
  const std::string numbers = "rounds = 1\nflops = 1\nflops_per_cycle = 1\n";
  EXPECT_THAT(loop_error(numbers), AllOf(HasSubstr("product.toml:"), HasSubstr("'entry'")));
  EXPECT_THAT(
      loop_error("entry = \"multipl\"\n" + numbers),
      HasSubstr("no step of the variant has the entry 'multipl' (there are: pack, multiply)"));
  EXPECT_THAT(loop_error("entry = \"multiply\"\nflops = 1\nflops_per_cycle = 1\n"),
              HasSubstr("'rounds'"));
  EXPECT_THAT(loop_error("entry = \"multiply\"\nround = 1\n" + numbers), HasSubstr("'round'"));
  EXPECT_THAT(loop_error("entry = \"multiply\"\nread = \"til\"\n" + numbers),
              AllOf(HasSubstr("'read' of [variants.loop]"), HasSubstr("til")));
}

// Objectives and metrics: read from the spec, computed from trials, ordered by their goal.

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
  EXPECT_THAT(error_of_metric("\n[metrics.x]\nvalue = \"measured.tim_ns\"\n"),
              HasSubstr("unknown name 'measured.tim_ns' in 'value' of metric 'x'; did you mean "
                        "'measured.time_ns'?"));
  EXPECT_THAT(error_of_metric("\n[metrics.x]\ngoal = \"least\"\nvalue = \"1\"\n"),
              HasSubstr("'goal' must be minimise or maximise, not 'least'"));
  EXPECT_THAT(error_of_metric("\n[metrics.energy]\nvalue = \"1\"\n"),
              HasSubstr("metric 'energy': the name is already taken"));
  EXPECT_THAT(error_of_metric("\n[metrics.x]\n"), HasSubstr("[metrics.x]"));
}

// Specs of programs: what they hold, and what is refused.

constexpr const char* kProgram = R"toml(name = "sort"
[problem.n]
type = "int"
[command]
build = ["c++ {'-O3' if fast else ''} -DTILE={tile} {folder}/sort.cpp -o sort"]
run = "./sort {n} {order}"
environment = { THREADS = "{tile * 2}" }
read = "regex"
pattern = "took ([0-9.]+)"
unit = "us"
check = "./sort --check"
seconds = 2
[[variants]]
name = "only"
[variants.tunables]
tile = { values = [16, 32], default = 16 }
fast = { values = [false, true], default = true }
order = { values = ["up", "down"], default = "up" }
)toml";

std::string program_with(const std::string& from, const std::string& to) {
  std::string text = kProgram;
  return text.replace(text.find(from), from.size(), to);
}

TEST(CommandSpec, HoldsWhatTheFileSays) {
  const KernelSpec spec = parse_spec(kProgram, "/kernels/sort/spec.toml");
  ASSERT_TRUE(spec.command);
  EXPECT_EQ(spec.command->reader, CommandReader::regex);
  EXPECT_EQ(spec.command->unit_ns, 1000);
  EXPECT_EQ(spec.command->seconds, 2);
  EXPECT_EQ(spec.command->goal, Goal::minimise);
  EXPECT_EQ(spec.command->runs, 5);
}

TEST(CommandSpec, LinesAreFilledForEachConfig) {
  const KernelSpec spec = parse_spec(kProgram, "/my kernels/sort/spec.toml");
  const Problem problem = Problem::parse(spec, "n=100");
  const DeviceInfo device = command_device();
  const Config config = Setting(spec, problem, device).parse("only:fast=false,order=down");
  const Result<LaunchPlan> plan = Setting(spec, problem, device).plan(config);
  ASSERT_TRUE(plan) << plan.failure().message;
  ASSERT_EQ(plan->steps.size(), 2U);
  EXPECT_EQ(plan->steps[0].entry, "export THREADS=32\n./sort 100 down");
  EXPECT_EQ(plan->steps[1].entry, "export THREADS=32\n./sort --check");
  const Scope scope = Setting(spec, problem, device).scope(config);
  EXPECT_EQ(shell_text(spec, spec.command->build[0], scope),
            "export THREADS=32\nc++  -DTILE=16 '/my kernels/sort'/sort.cpp -o sort");
}

struct CommandMistake {
  std::string from;
  std::string to;
  std::string message;
};

TEST(CommandSpec, MistakesAreNamedWithTheirPlace) {
  const std::vector<CommandMistake> mistakes = {
      {"run = \"./sort {n} {order}\"\n", "", "spec.toml:4:2: [command]: key 'run' is missing; "},
      {"read = \"regex\"", "read = \"regx\"",
       "spec.toml:8:1: [command]: 'read' must be one of last_line, regex, nvbench, "
       "google_benchmark, not 'regx'; did you mean 'regex'?"},
      {"took ([0-9.]+)", "took [0-9.]+",
       "spec.toml:9:1: [command]: 'pattern' must have one group in round brackets: the number"},
      {"took ([0-9.]+)", std::string(40'000, '('),
       "spec.toml:9:1: [command]: 'pattern' may have 4096 bytes at most, not 40000"},
      {"seconds = 2", "expect = \"a**\"",
       "spec.toml:12:1: [command]: 'expect' is no regular expression (ECMAScript): "},
      {"took ([0-9.]+)", "took ([0-9.+",
       "spec.toml:9:1: [command]: 'pattern' is no regular expression (ECMAScript): "},
      {"pattern = \"took ([0-9.]+)\"\n", "",
       "spec.toml:4:2: [command]: 'pattern' and read = \"regex\" go together"},
      {"unit = \"us\"", "unit = \"h\"",
       "spec.toml:10:1: [command]: 'unit' must be ns, us, ms or s, not 'h'"},
      {"unit = \"us\"\n", "", "spec.toml:4:2: [command]: 'unit' is missing: ns, us, ms or s"},
      {"unit = \"us\"", "unit = \"us\"\nbetter = \"more\"",
       "spec.toml:11:1: [command]: 'better' must be lower or higher, not 'more'"},
      {"seconds = 2", "seconds = 0",
       "spec.toml:12:1: [command]: 'seconds' must be a number from 0.1 to 86400"},
      {"seconds = 2", "time = \"cpu_time\"",
       "spec.toml:12:1: [command]: 'time' is for read = \"nvbench\" and \"google_benchmark\""},
      {"check = \"./sort --check\"", "reference = \"./sort\"",
       "spec.toml:11:1: [command]: 'reference' needs 'check': what both print is compared"},
      {"seconds = 2", "files = [\"../sort.cpp\"]",
       "spec.toml:12:1: [command]: '../sort.cpp' must be a file in the spec's folder or below it"},
      {"{n}", "{m}", "spec.toml:6:16: unknown name 'm' in 'run' of [command]"},
      {"{tile * 2}", "{tile", "spec.toml:7:28: the '{' here has no '}'"},
      {"name = \"only\"\n", "name = \"only\"\nsource = \"a.cu\"\n",
       "spec.toml:15:1: [[variants]]: a variant of [command] has no 'source'"},
      {"[command]", "[verify]\nformulas = { }\n[command]",
       "spec.toml:4:2: the spec: 'verify' is for kernels: a spec with [command] has none"},
  };
  for (const CommandMistake& mistake : mistakes) {
    EXPECT_THAT(spec_error(program_with(mistake.from, mistake.to)), StartsWith(mistake.message));
  }
}

}  // namespace
}  // namespace kiln
