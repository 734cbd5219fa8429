// Spaces, and how much of a program's calls is tuned.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

// `kiln space`: sizes and constraints of a kernel's space, and of files that describe one.

constexpr const char* kSpaceKernels = KILN_SOURCE_DIR "/tests/cli/kernels";

constexpr const char* kSpaces = R"({"spaces": [
  {"name": "tiles", "parameters": {"x": [1, 2, 4, 8], "y": [1, 2, 3, 4], "free": [0, 1, 2]},
   "constraints": ["x * y <= 8", "x % y == 0 or y == 1", "x > 0"],
   "cartesian_size": 48, "valid_size": 18}
]})";

class SpaceCommand : public ProgramTest {
 protected:
  std::string file(const std::string& text) {
    write("space.json", text);
    return (folder_ / "space.json").string();
  }
};

TEST_F(SpaceCommand, CountsTheConfigsOfAFile) {
  const Output output = kiln({"space", "--file", file(kSpaces), "--json"});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const Json space = Json::parse(output.out)["spaces"][0];
  EXPECT_EQ(space["name"], "tiles");
  EXPECT_EQ(space["combinations"], 48);
  EXPECT_EQ(space["configs"], 18);
  EXPECT_EQ(space["exact"], true);
  EXPECT_EQ(space["expected_configs"], 18);
  EXPECT_EQ(space["parts"], Json({2, 1}));
  EXPECT_EQ(space["constraints"][0]["rule"], "x * y <= 8");
  EXPECT_EQ(space["constraints"][0]["kind"], "constraint");
  EXPECT_GT(space["build_ns"], 0);
}

TEST_F(SpaceCommand, AProblemThatNoConfigCanRunIsRefusedWithTheNumber) {
  const Output output = kiln("space reduce --problem n=3e12 --arch sm_90a");
  EXPECT_EQ(output.exit_code, 3) << output.out;
  EXPECT_EQ(output.err.find("kiln: error: no config of reduce can run n=3000000000000 "), 0U)
      << output.err;
  EXPECT_THAT(output.err,
              HasSubstr("needs 12 TB for its arguments (12 TB for 'in'), the device has "));
  const Output best = kiln("prebuild reduce --problem n=3e12 --arch sm_90a");
  EXPECT_EQ(best.exit_code, 3) << best.err;
}

TEST_F(SpaceCommand, TellsWhatEachConstraintCuts) {
  const Output output = kiln({"space", "--file", file(kSpaces)});
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("tiles       18            48"));
  EXPECT_THAT(output.out, HasSubstr("\ntiles: rule           kind        cut  because\n"));
  EXPECT_THAT(output.out, HasSubstr("\ntiles: 1 constraint cut nothing\n"));
}

TEST_F(SpaceCommand, ReportsACountThatTheFileStatesDifferently) {
  std::string text = kSpaces;
  text.replace(text.find("\"valid_size\": 18"), 16, "\"valid_size\": 25");
  const Output output = kiln({"space", "--file", file(text)});
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.out, HasSubstr("\ntiles: 18 configs, but the file says 25\n"));
}

TEST_F(SpaceCommand, ASpaceWithoutConfigsIsAnAnswerAndAFailure) {
  const Output output =
      kiln({"space", "--file", file(R"({"spaces": [{"name": "none", "parameters": {"x": [1, 2]},
                                       "constraints": ["x % (x - 1) > 4"]}]})"),
            "--json"});
  EXPECT_EQ(output.exit_code, 1);
  const Json space = Json::parse(output.out)["spaces"][0];
  EXPECT_EQ(space["configs"], 0);
  EXPECT_THAT(space["constraints"][0]["first_fault"].get<std::string>(),
              HasSubstr("division by zero"));
}

TEST_F(SpaceCommand, CountsTheConfigsOfAKernel) {
  const Words words = {"space",       "scale",  "--problem", "n=1000", "--kernel-path",
                       kSpaceKernels, "--arch", "sm_80",     "--json"};
  const Output output = kiln(words);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const Json space = Json::parse(output.out)["spaces"][0];
  EXPECT_EQ(space["name"], "plain");
  EXPECT_EQ(space["combinations"], 32);
}

TEST_F(SpaceCommand, TellsTheRulesOfTheSpecFromTheLimitsOfTheDevice) {
  const Words words = "space reduce --problem n=1000 --arch sm_80";
  const Output output = kiln(words);
  EXPECT_THAT(output.out, HasSubstr("launch limits cut nothing\n"));
}

TEST_F(SpaceCommand, AConstraintThatCannotBeReadIsAnErrorWithItsPlace) {
  std::string text = kSpaces;
  text.replace(text.find("x > 0"), 5, "x ~ 0");
  const Output output = kiln({"space", "--file", file(text)});
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_EQ(output.err,
            "kiln: error: " + file(text) +
                ":3:61: expected an operator or the end of the expression, found '~'\n");
}

TEST_F(SpaceCommand, NeedsAKernelOrAFile) {
  EXPECT_EQ(kiln("space").exit_code, 2);
  EXPECT_EQ(kiln("space").err, "kiln: error: expected a KERNEL or --file, one of the two\n");
  const Output missing = kiln("space --file /nowhere.json");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err,
            "kiln: error: /nowhere.json: there is no such file; expected a T1 "
            "file or a list of spaces\n");
}

// kiln coverage on the recorded runs of a real application (examples/launch_opencl): what ran
// tuned, near and default, and what tuning the rest is worth.

class Coverage : public TuningTest {
 protected:
  /// Returns what it said on stderr.
  [[nodiscard]] std::string run_application(const std::string& statistics,
                                            const std::string& size) const {
    const std::string command =
        "cd '" + folder_.string() + "' && KILN_DB=kiln.db KILN_CACHE=cache " + "KILN_STATISTICS='" +
        statistics + "' '" KILN_LAUNCH_OPENCL "' " + size + " > said.out 2> said.err";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_text(folder_ / "said.err");
    return read_text(folder_ / "said.err");
  }

  [[nodiscard]] static const Json& problem_of(const Json& coverage, const std::string& kernel,
                                              const std::string& text) {
    for (const Json& each : coverage["problems"]) {
      const bool is_it = each["kernel"] == kernel &&
                         each["problem"].get<std::string>().find(text) != std::string::npos;
      if (is_it) return each;
    }
    ADD_FAILURE() << kernel << " " << text << " is not in " << coverage;
    return coverage["problems"].at(0);
  }
};

TEST_F(Coverage, WeighsWhatAnApplicationCalled) {
  ASSERT_EQ(kiln("tune transpose --problem rows=300,cols=200 --device opencl --trials 3 --db "
                 "kiln.db --quiet")
                .exit_code,
            0);
  for (int run = 0; run < 3; ++run)
    EXPECT_EQ(run_application("calls.jsonl", "300 200"), "") << "nothing is printed";
  EXPECT_EQ(run_application("calls.jsonl", "310 200"), "");
  const std::string line = run_application("1", "300 200");
  EXPECT_EQ(
      line,
      "kiln: 2 launches and 3 selections of 2 problems; of the launches 1 exact, 1 default\n");

  const Json coverage = kiln_json("coverage calls.jsonl --db kiln.db --json");
  EXPECT_EQ(coverage["calls"], 8) << "four runs of two launches";
  EXPECT_DOUBLE_EQ(coverage["shares"]["tuned"].get<double>(), 3.0 / 8);
  EXPECT_DOUBLE_EQ(coverage["shares"]["near"].get<double>(), 1.0 / 8);
  EXPECT_DOUBLE_EQ(coverage["shares"]["default"].get<double>(), 4.0 / 8);
  const Json tuned = problem_of(coverage, "transpose", "rows=300");
  EXPECT_EQ(tuned["grade"], "exact");
  EXPECT_EQ(tuned["launches"], 3);
  EXPECT_EQ(tuned["slowdown"], 1);
  EXPECT_EQ(tuned["worth_ns"], 0);
  const Json near = problem_of(coverage, "transpose", "rows=310");
  EXPECT_EQ(near["grade"], "near_size");
  EXPECT_NEAR(near["best_ns"].get<double>() / tuned["best_ns"].get<double>(), 310.0 / 300, 1e-9);
  EXPECT_NE(problem_of(coverage, "reduce", "n=60000")["unknown"], "");

  // Of two applications that called the same, one row; the most called come first.
  EXPECT_EQ(run_application("others.jsonl", "310 200"), "");
  const Json both = kiln_json("coverage calls.jsonl others.jsonl --db kiln.db --json");
  EXPECT_EQ(both["calls"], 10);
  EXPECT_EQ(both["problems"].size(), coverage["problems"].size());
  EXPECT_EQ(problem_of(both, "transpose", "rows=310")["launches"], 2);

  const Output text = kiln("coverage calls.jsonl --db kiln.db");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("8 calls: tuned 3 (37.5%), near 1 (12.5%), default 4 (50.0%)"));
}

/// A best that is twice as fast as the default config: what the calls that ran with the default
/// lose is known once their problem is tuned.
TEST_F(Coverage, SaysWhatTuningIsWorth) {
  const Words tune =
      "tune transpose --problem rows=300,cols=200 --device opencl --trials 3 --db kiln.db --quiet";
  write("empty.jsonl", "");
  EXPECT_EQ(run_application("calls.jsonl", "300 200"), "");
  ASSERT_EQ(kiln(tune).exit_code, 0);
  const Json coverage = kiln_json("coverage calls.jsonl --db kiln.db --json");
  const Json since = problem_of(coverage, "transpose", "rows=300");
  EXPECT_EQ(since["grade"], "default");
  EXPECT_TRUE(since["tuned_now"]);
  const double best = since["best_ns"].get<double>();
  const double slowdown = since["slowdown"].get<double>();
  EXPECT_GE(slowdown, 1);
  EXPECT_DOUBLE_EQ(since["worth_ns"].get<double>(), best * (slowdown - 1));
  EXPECT_EQ(kiln("coverage empty.jsonl --db kiln.db").exit_code, 3);
  write("bad.jsonl", "{\"kernel\": 3}\nno record\n");
  const Output bad = kiln("coverage bad.jsonl --db kiln.db");
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_EQ(bad.err,
            "kiln: error: bad.jsonl:1: key 'kernel' must be a text, not number; no line of the "
            "file is a record of calls\n");
}

}  // namespace
}  // namespace kiln::cli
