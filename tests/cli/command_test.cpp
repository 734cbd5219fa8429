// Programs in place of kernels: tuned, and what a hang, a crash and a wrong answer cost.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

/// A "benchmark" that prints the JSON of nvbench: its times are the square of the tile.
constexpr const char* kProgramSpec = R"toml(name = "scan"
[problem.n]
type = "int"
default = 100
[command]
files = ["scan.sh"]
build = "test {tile} != 1 && cp {folder}/scan.sh ."
run = "sh ./scan.sh {tile} {n}"
read = "nvbench"
output = "times.json"
check = "cat sum"
reference = "echo {n}"
runs = 1
seconds = 1
[[variants]]
name = "only"
[variants.tunables]
tile = { values = [1, 2, 3, 4, 5, 6], default = 6 }
)toml";

constexpr const char* kProgram = R"(tile=$1
echo $2 > sum
test $tile = 2 && sleep 100
test $tile = 3 && kill -SEGV $$
test $tile = 4 && echo 7 > sum
cat > times.json <<END
{"benchmarks": [{"name": "scan", "states": [{"name": "s", "summaries": [
  {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": "0.0$tile"}]}]}]}]}
END
)";

class Command : public ProgramTest {
 protected:
  [[nodiscard]] Output tune(const Words& more = {}) const {
    return kiln(Words("tune ./mine --db kiln.db --strategy exhaustive") + more);
  }
};

TEST_F(Command, AHangACrashAndAWrongAnswerCostOneConfigEach) {
  write("mine/spec.toml", kProgramSpec);
  write("mine/scan.sh", kProgram);
  const Output output = tune();
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json session = kiln_json("show latest --json --db kiln.db");
  std::map<std::int64_t, std::string> outcomes;
  std::map<std::int64_t, std::string> messages;
  for (const Json& row : session["rows"]) {
    const std::int64_t tile = row["config"]["tunables"]["tile"];
    outcomes[tile] = row["outcome"];
    messages[tile] = row["message"];
  }
  EXPECT_EQ(outcomes, (std::map<std::int64_t, std::string>{{1, "compile_error"},
                                                           {2, "run_timeout"},
                                                           {3, "device_fault"},
                                                           {4, "wrong_result"},
                                                           {5, "ok"},
                                                           {6, "ok"}}));
  EXPECT_EQ(messages[1], "the build ended with exit code 1");
  EXPECT_THAT(messages[3], StartsWith("the program ended with signal 11 (Segmentation fault)"));
  EXPECT_EQ(messages[4], "the check printed something else than the reference: 7");
  EXPECT_THAT(output.out, HasSubstr("only:tile=5"));
  EXPECT_THAT(output.out, HasSubstr("50.0 ms"));

  const Json best = kiln_json("best ./mine --problem n=100 --db kiln.db --json");
  EXPECT_EQ(best["grade"], "exact");
  EXPECT_EQ(best["config_text"], "only:tile=5");
  const Output again = tune();
  EXPECT_THAT(again.out, HasSubstr("answered from the database"));
}

TEST_F(Command, AnEditOfAFileOfTheBuildStartsANewSession) {
  write("mine/spec.toml", kProgramSpec);
  write("mine/scan.sh", kProgram);
  ASSERT_EQ(tune().exit_code, 0);
  edit("mine/scan.sh", "0.0$tile", "0.1$tile");
  const Output output = tune();
  EXPECT_THAT(output.out, HasSubstr("150 ms"));
}

TEST_F(Command, AProgramOfGoogleBenchmarkIsTuned) {
  if (!std::filesystem::exists("/usr/include/benchmark/benchmark.h"))
    GTEST_SKIP() << "Google Benchmark is not installed";
  copy_kernel("examples/programs/transpose", "mine");
  const Output output = kiln("tune ./mine --problem rows=200,cols=300 --trials 2 --db kiln.db");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json session = kiln_json("show latest --json --db kiln.db");
  for (const Json& row : session["rows"]) EXPECT_EQ(row["outcome"], "ok") << row["message"];
}

TEST_F(Command, APatternThatTakesTooLongEndsTheSessionAndBlamesNoConfig) {
  write("mine/spec.toml", R"toml(name = "long"
[command]
run = "head -c 3000000 /dev/zero | tr '\\0' a; echo; echo {tile}"
unit = "ns"
expect = "(a|b)*"
[[variants]]
name = "only"
[variants.tunables]
tile = { values = [1, 2], default = 1 }
)toml");
  const Output output = tune();
  EXPECT_EQ(output.exit_code, 3) << output.out;
  EXPECT_THAT(output.err, HasSubstr("mine/spec.toml:5:1: [command]: 'expect' takes more than "));
  const Json session = kiln_json("show latest --json --db kiln.db");
  EXPECT_TRUE(session["rows"].empty()) << session["rows"];
}

TEST_F(Command, AnotherDeviceIsRefused) {
  write("mine/spec.toml", kProgramSpec);
  write("mine/scan.sh", kProgram);
  const Output output = tune("--device cuda");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_THAT(output.err, StartsWith("kiln: error: 'scan' is a program: it runs on this machine"));
}

}  // namespace
}  // namespace kiln::cli
