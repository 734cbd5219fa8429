// kiln coverage on the recorded runs of a real application (examples/launch_opencl): what ran
// tuned, near and default, and what tuning the rest is worth.
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

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
