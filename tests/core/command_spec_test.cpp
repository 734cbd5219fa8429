// Specs of programs: what they hold, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "core/command_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"

namespace kiln {
namespace {

using test::spec_error;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
