// What a new user meets in the first hour: budgets that are too short, variants that are all wrong,
// rows of another driver, files and commands taken for each other. What is measured is a program
// whose times are what a file says, so nothing depends on the machine.
// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include <nlohmann/json.hpp>

#include "cli/text_layout.hpp"
#include "kiln_program.hpp"
#include "pty_program.hpp"

namespace kiln::cli {
namespace {

using testing::Not;

/// Variant `fast` runs; every config of `wrong` prints another answer.
constexpr const char* kSpec = R"toml(name = "timed"
[problem.n]
type = "int"
min = 1
[command]
build = "if test {tile} = 7; then echo building; echo 'cc: error: no such tile'; exit 1; fi"
run = "echo right {right}; sed -n {tile}p {folder}/times"
unit = "us"
expect = "right 1"
runs = 1
[[variants]]
name = "fast"
tunables.tile = { values = [3, 1, 2, 7], default = 3 }
derived.right = "1"
[[variants]]
name = "wrong"
tunables.tile = { values = [1, 2], default = 1 }
derived.right = "0"
)toml";

class FirstHour : public ProgramTest {
 protected:
  void SetUp() override {
    write("timed/spec.toml", kSpec);
    write("timed/times", "20\n10\n30\n");
  }
  [[nodiscard]] Output tune(const Words& more = {}) const {
    Words words = "tune ./timed --problem n=5 --strategy exhaustive --db kiln.db --trust --quiet";
    words.insert(words.end(), more.begin(), more.end());
    return kiln(words);
  }
  /// A database whose bests were measured with another driver than is here.
  void import_of_other_driver() const {
    ASSERT_EQ(tune().exit_code, 0);
    ASSERT_EQ(kiln("db export bests.jsonl --db kiln.db").exit_code, 0);
    const std::string text = read_text(folder_ / "bests.jsonl");
    write("old.jsonl", std::regex_replace(text, std::regex("\"driver\":\"[^\"]*\""),
                                          "\"driver\":\"Linux 0.0\""));
    ASSERT_EQ(kiln("db import old.jsonl --db stale.db --kernel-path .").exit_code, 0);
  }
};

TEST_F(FirstHour, ASessionOfTheDefaultConfigAloneWasTooShort) {
  const Output output = tune("--trials 1");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.out, HasSubstr("too short"));
  EXPECT_THAT(output.out, HasSubstr("only the default config was tried; a larger --trials tries"));
  const Json json = Json::parse(tune("--trials 1 --json").out)["sessions"][0];
  EXPECT_EQ(json["only_default"], true);
  EXPECT_EQ(json["so_far"]["config_text"], "fast:tile=3");
  EXPECT_FALSE(json.contains("verdict"));
  const Json best = kiln_json("best ./timed --problem n=5 --db kiln.db --json");
  EXPECT_EQ(best["grade"], "default") << "the default config is no answer of the search";

  write("plan.toml",
        "name = \"p\"\n[[kernels]]\nkernel = \"./timed\"\nproblems = [\"n=6\"]\ntrials = 1\n");
  const Output sweep = kiln("sweep plan.toml --db kiln.db --trust --quiet");
  EXPECT_EQ(sweep.exit_code, 1);
  EXPECT_THAT(sweep.out, HasSubstr("timed n=6: only the default config was tried"));
}

TEST_F(FirstHour, ADefaultConfigBesideFailuresAloneIsNoTie) {
  edit("timed/spec.toml", "test {tile} = 7", "test {tile} -gt 3");
  edit("timed/spec.toml", "[3, 1, 2, 7]", "[3, 7, 8, 9]");
  const Output output = tune({"--trials", "2"});
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.out, HasSubstr("too short"));
  EXPECT_THAT(output.out, HasSubstr("of 2 configs that were tried only the default one is ok; a "
                                    "larger --trials tries others"));
  // All are tried: the default config is the answer, for want of another.
  const Output all = tune({"--trials", "9"});
  EXPECT_EQ(all.exit_code, 0) << all.out;
  EXPECT_THAT(all.out, HasSubstr("tie"));
}

TEST_F(FirstHour, ATimeThatWasTooShortNamesOneThatWillDo) {
  edit("timed/spec.toml", "sed -n", "sleep 0.3; sed -n");
  edit("timed/spec.toml", "[3, 1, 2, 7]", "[3, 1, 2]");
  const Output output = tune("--seconds 0.1");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.out, testing::ContainsRegex(
                              "only the default config was tried in [0-9.]+ s; try --seconds 10"));
  // More than was given then, though less than it took.
  const Output more = tune("--seconds 0.2");
  EXPECT_THAT(more.out, Not(HasSubstr("answered from the database"))) << more.out;
  const Output same = tune("--seconds 0.2");
  EXPECT_THAT(same.out, HasSubstr("answered from the database"));
}

TEST_F(FirstHour, AVariantOfWhichAllIsWrongHasNoBest) {
  const Output output = tune("--variant wrong");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.out, HasSubstr("no config of variant wrong was ok"));
  EXPECT_THAT(output.out, HasSubstr("all 2 configs of variant 'wrong' failed (wrong_result): the "
                                    "program printed no match of 'right 1': right 0\n"));
  EXPECT_THAT(output.out, Not(HasSubstr("fast:")));
  const Json best = kiln_json("best ./timed --problem n=5 --db kiln.db --json");
  EXPECT_EQ(best["grade"], "default");
}

TEST_F(FirstHour, FailuresHaveTheirFirstReasonAndProgramsNoCache) {
  const Output output = tune("--variant fast");
  EXPECT_EQ(output.exit_code, 0) << output.out;
  EXPECT_THAT(output.out, HasSubstr("1 of 4 configs of variant 'fast' failed (compile_error): the "
                                    "build ended with exit code 1: cc: error: no such tile\n"));
  EXPECT_THAT(output.out, Not(HasSubstr("cache")));
  EXPECT_THAT(kiln("show 1 --db kiln.db").out, Not(HasSubstr("GPU")));
}

TEST_F(FirstHour, ATargetEndsTheSearch) {
  std::string values = "[3";
  std::string times;
  for (int tile = 1; tile <= 60; ++tile) {
    times += tile == 3 ? "30\n" : tile < 40 ? "20\n" : "10\n";
    if (tile != 3 && tile != 7) values += ", " + std::to_string(tile);
  }
  edit("timed/spec.toml", "[3, 1, 2, 7]", values + "]");
  write("timed/times", times);
  const Output output = tune("--variant fast --target 1.4x --json");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_LT(Json::parse(output.out)["sessions"][0]["trials"], 30);
  EXPECT_THAT(tune("--variant fast --target 1.4").out, HasSubstr("answered from the database"));
  EXPECT_THAT(tune("--variant fast --target 2.9x").out,
              testing::AllOf(HasSubstr("good enough"), HasSubstr("3.00x")));
  for (const char* wrong : {"1x", "0.5", "x", "fast", "-2x", ""}) {
    const Output refused = tune({"--target", wrong});
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("expected a speed-up over the default config above 1"));
  }
}

TEST_F(FirstHour, SeveralProblemsAreASessionEach) {
  const Output output = tune("--problem n=6 --json");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const Json sessions = Json::parse(output.out)["sessions"];
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0]["problem"], "n=5");
  EXPECT_EQ(sessions[1]["problem"], "n=6");
  const Output refused = tune("--problem n=0");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_EQ(refused.out, "") << "nothing runs before all problems are read";
}

TEST_F(FirstHour, RowsOfAnotherDriverAreStaleWhoeverAsks) {
  import_of_other_driver();
  Words ask = "best ./timed --problem n=5 --db stale.db";
  EXPECT_THAT(kiln(ask).out, HasSubstr("stale: driver Linux 0.0 is now Linux "));
  const Json info = kiln_json("db info stale.db --kernel-path . --json");
  EXPECT_EQ(info["by_kernel"][0]["stale"], 1);
  EXPECT_EQ(kiln_json("db info kiln.db --json")["by_kernel"][0]["stale"], 0);
}

TEST_F(FirstHour, ACheckTakesAFolderAndSaysWhenEverythingBecameSlower) {
  ASSERT_EQ(tune().exit_code, 0);
  write("timed/times", "40\n20\n60\n");
  for (const Words& named : {Words("--kernel ./timed"), Words("./timed")}) {
    Words words = "check --db kiln.db --trust --quiet";
    words.insert(words.end(), named.begin(), named.end());
    const Output output = kiln(words);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_THAT(output.out, HasSubstr("bests that hold: 1 of 1\n"));
    EXPECT_THAT(output.out,
                HasSubstr("slower than when published: 1 of 1, by 2.00x in the median"));
  }
}

TEST_F(FirstHour, SessionsAreRemovedAllOrNone) {
  ASSERT_EQ(tune("--problem n=6 --problem n=7").exit_code, 0);
  const Output unknown = kiln("db rm 1 9 --db kiln.db");
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_EQ(kiln_json("show --db kiln.db --json").size(), 3U);
  const Output output = kiln("db rm 2 latest --db kiln.db");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out,
            "removed session 2: timed n=6, 6 trials\nremoved session 3: timed n=7, 6 trials\n");
  EXPECT_EQ(kiln_json("show --db kiln.db --json").size(), 1U);
  EXPECT_EQ(kiln("db check kiln.db").exit_code, 0);
  EXPECT_EQ(kiln("db rm 1 --db none.db").exit_code, 5);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none.db"));
}

TEST_F(FirstHour, ADatabaseIsNamedWithoutAnOption) {
  ASSERT_EQ(tune().exit_code, 0);
  const std::string list = kiln("show --db kiln.db").out;
  EXPECT_EQ(kiln("show kiln.db").out, list);
  const std::string page = kiln("show 1 --db kiln.db").out;
  EXPECT_EQ(kiln("show kiln.db 1").out, page);
  EXPECT_EQ(kiln("show latest kiln.db").out, page);
  EXPECT_THAT(kiln("show kiln.db --db kiln.db").err, HasSubstr("named twice"));
  EXPECT_THAT(kiln("show none.db").err, HasSubstr("none.db: there is no such database"));
}

TEST_F(FirstHour, ADeviceIsMadeUpForTheBackendThatAKernelRequires) {
  write("only/saxpy.cl",
        "#ifndef BLOCK\n#define BLOCK 128\n#endif\n"
        "__kernel void saxpy(__global float* y, __global const float* x, float a, int n) {\n"
        "  int i = get_group_id(0) * BLOCK + get_local_id(0);\n"
        "  if (i < n) y[i] += a * x[i];\n}\n");
  ASSERT_EQ(kiln("init only/saxpy.cl").exit_code, 0);
  const Output space = kiln("space ./only --problem n=1000");
  EXPECT_EQ(space.exit_code, 0) << space.out;
  const Output source = kiln("render ./only --problem n=1000");
  EXPECT_EQ(source.exit_code, 0) << source.err;
  EXPECT_THAT(source.out, HasSubstr("__kernel void saxpy"));
}

TEST_F(FirstHour, OneCommandNamesTheOther) {
  write("a.plan.toml", "name = \"p\"\n[[kernels]]\nkernel = \"reduce\"\nproblems = [\"n=10\"]\n");
  const auto said = [&](const Words& words) { return kiln(words).err; };
  EXPECT_THAT(said({"tune", "a.plan.toml"}), HasSubstr("a plan runs by 'kiln sweep a.plan.toml'"));
  EXPECT_THAT(said({"sweep", "timed/spec.toml"}), HasSubstr("expected kiln tune timed\n"));
  EXPECT_THAT(said({"check", "no.plan.toml", "--db", "none.db"}),
              HasSubstr("there is no such file"));
  EXPECT_THAT(said({"import", "x"}), HasSubstr("did you mean 'kiln db import'?"));
  EXPECT_THAT(said({"lock"}), HasSubstr("did you mean 'kiln db lock'?"));
  EXPECT_THAT(said({"new"}), HasSubstr("did you mean 'init'?"));
  EXPECT_THAT(said({"tune", "transpose", "--problem", "rows=10:cols=10"}),
              HasSubstr("expected a comma or a space between two fields"));
  write("both/one/spec.toml", kSpec);
  write("both/two/spec.toml", kSpec);
  EXPECT_THAT(said({"tune", "./both"}), HasSubstr("below it are ./both/one, ./both/two\n"));
  EXPECT_THAT(kiln("kernels ./both").out, Not(HasSubstr("matmul")));
  EXPECT_EQ(kiln_json("kernels ./both --json").size(), 2U);
}

TEST_F(FirstHour, ATypeOfCIsAnsweredWithOurs) {
  copy_kernel("tests/cli/kernels/scale", "scale");
  edit("scale/spec.toml", "name = \"x\"\naccess = \"read\"\ndtype = \"f32\"",
       "name = \"x\"\naccess = \"read\"\ndtype = \"float\"");
  EXPECT_THAT(kiln("kernels ./scale").err, HasSubstr("did you mean 'f32'? (a type is one of "));
  copy_kernel("tests/cli/kernels/scale", "empty");
  edit("empty/spec.toml", "block = [\"block_size\"]", "block = [\"0\"]");
  EXPECT_THAT(kiln("space ./empty --problem n=10").out, HasSubstr("block = 0"));
}

class FirstHourOnOpenCl : public TuningTest {};

TEST_F(FirstHourOnOpenCl, AMistypedWordIsFoundInTheLineOfTheTemplate) {
  copy_kernel("tests/cli/kernels/scale", "scale");
  edit("scale/plain.inja", "KERNEL({{", "KERNL({{");
  const Output output = kiln("render ./scale --problem n=10 --report --backend opencl");
  EXPECT_EQ(output.exit_code, 3) << output.out;
  EXPECT_THAT(output.err,
              testing::ContainsRegex("does not compile for opencl: plain.inja:5: error: "
                                     "[^\n]*('KERNL'; did you mean 'KERNEL'\\?)"));
}

TEST_F(FirstHour, HelpStandsInGroupsAndFitsTheTerminal) {
  const std::string help = kiln("--help").out;
  std::size_t at = 0;
  for (const char* group :
       {"\nTune:\n", "\nAsk:\n", "\nLook:\n", "\nTake along:\n", "\nFleet:\n"}) {
    at = help.find(group, at);
    ASSERT_NE(at, std::string::npos) << group;
  }
  const std::string first_day = kiln("tune --help").out;
  EXPECT_THAT(first_day, HasSubstr("--seconds"));
  EXPECT_THAT(first_day, Not(HasSubstr("--compile-workers")));
  EXPECT_THAT(first_day, HasSubstr("More options: kiln tune --help-all\n"));
  EXPECT_THAT(kiln("tune --help-all").out, HasSubstr("--compile-workers"));
  for (const unsigned short columns : {60, 80, 120}) {
    for (const char* command : {"tune", "best", "show", "sweep", "db", "check", "fleet"}) {
      const TerminalOutput output =
          run_on_terminal(folder_, {columns, 50}, {command, "--help-all"});
      for (const std::string& line : output.drawn())
        EXPECT_LE(columns_of(line), std::size_t{columns}) << command << ": " << line;
    }
  }
}

TEST_F(FirstHour, TheAnswerIsBold) {
  const TerminalOutput output = run_on_terminal(
      folder_, {120, 50},
      {"tune", "./timed", "--problem", "n=5", "--variant", "fast", "--db", "kiln.db", "--trust"});
  EXPECT_THAT(output.raw, HasSubstr("\x1b[00;1mfast:tile=2\x1b[00m")) << output.raw;
}

}  // namespace
}  // namespace kiln::cli
