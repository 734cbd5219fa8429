// The report of sessions: the same facts as text, Markdown and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "cli/session_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "templates/library.hpp"

namespace kiln::cli {
namespace {

using ::testing::HasSubstr;

SessionSummary found() {
  BestRecord best;
  best.config = {"tile", {{"rows", std::int64_t{32}}, {"pad", true}}};
  best.time_ns = 10'000;
  best.default_time_ns = 25'000;
  best.naive_time_ns = 123'400;
  best.verdict = Verdict::better;
  best.bytes = 1e6;
  best.published_at = "2026-01-02T03:04:05Z";
  SessionResult result;
  result.id = 4;
  result.space_size = 96;
  result.trials = 40;
  result.failures = 2;
  result.wall_seconds = 12.5;
  result.warm = {{{"tile", {{"rows", Value(std::int64_t{64})}}},
                  "the best of rows=32 cols=32 on this device"}};
  result.best = best;
  SessionSummary summary{
      .kernel = "transpose", .problem = "rows=64 cols=64", .result = {}, .error = {}};
  summary.read_share = 0.5;
  summary.result = result;
  return summary;
}

SessionSummary without_best(SessionEnd end) {
  SessionSummary summary = found();
  summary.result->best.reset();
  summary.result->end = end;
  return summary;
}

SessionSummary refused() {
  return {.kernel = "reduce",
          .problem = "n=10 map=x|1",
          .result = {},
          .error = "no config is legal:\n  tree: too large"};
}

TEST(Report, IsATableWithOneRowASession) {
  EXPECT_EQ(report({found(), refused()}, std::nullopt, ReportFormat::text),
            "kernel     problem           naive  default     best  speed-up      rate  verdict  "
            "trials  failures\n"
            "---------  ---------------  ------  -------  -------  --------  --------  -------  "
            "------  --------\n"
            "transpose  rows=64 cols=64  123 us  25.0 us  10.0 us     2.50x  100 GB/s  better      "
            " 40         2\n"
            "  tile:rows=32,pad=true\n"
            "reduce     n=10 map=x|1          -        -        -         -         -  none        "
            "  0         0\n"
            "  no config is legal: tree: too large\n");
}

TEST(Report, SaysWhyThereIsNoBest) {
  const std::string failed =
      report({without_best(SessionEnd::exhausted)}, std::nullopt, ReportFormat::text);
  EXPECT_THAT(failed, testing::HasSubstr("none         40         2\n  no config was ok\n"));
  const std::string stopped =
      report({without_best(SessionEnd::interrupted)}, std::nullopt, ReportFormat::text);
  EXPECT_THAT(stopped, testing::HasSubstr("none         40         2\n  interrupted\n"));
}

TEST(Report, OfAnInterruptedSessionHoldsTheBestSoFar) {
  SessionSummary stopped = without_best(SessionEnd::interrupted);
  stopped.result->so_far = found().result->best;
  stopped.result->so_far->published_at.clear();
  const std::string text = report({stopped}, std::nullopt, ReportFormat::text);
  EXPECT_THAT(text, testing::HasSubstr("10.0 us     2.50x  100 GB/s  so far "));
  EXPECT_THAT(text, testing::HasSubstr("\n  tile:rows=32,pad=true\n"));
}

TEST(Report, OfAnInterruptedSessionHoldsTheBestSoFarInJsonToo) {
  SessionSummary stopped = without_best(SessionEnd::interrupted);
  stopped.result->so_far = found().result->best;
  const Json json = Json::parse(report({stopped}, std::nullopt, ReportFormat::json));
  EXPECT_EQ(json["sessions"][0]["so_far"]["config_text"], "tile:rows=32,pad=true");
  EXPECT_FALSE(json["sessions"][0].contains("config_text")) << "that is for a best";
}

TEST(Report, ComparesNothingWithADefaultThatFailed) {
  SessionSummary summary = found();
  summary.result->best->default_time_ns = 0;
  const std::string text = report({summary}, std::nullopt, ReportFormat::text);
  EXPECT_THAT(text,
              testing::HasSubstr("123 us        -  10.0 us         -  100 GB/s  no default "));
}

TEST(Report, TellsTheShareOfTheCeilingThatFitsTheMix) {
  Ceilings ceilings;
  ceilings.read_bytes_per_s = 400e9;
  ceilings.copy_bytes_per_s = 200e9;
  const std::string copying = report({found()}, ceilings, ReportFormat::markdown);
  EXPECT_THAT(copying, testing::HasSubstr("| 100 GB/s | 50.0% |"));

  SessionSummary reading = found();
  reading.read_share = 0.99;
  const std::string read = report({reading}, ceilings, ReportFormat::markdown);
  EXPECT_THAT(read, testing::HasSubstr("| 100 GB/s | 25.0% |"));
}

TEST(Report, TellsOfDriftBeyondNoise) {
  SessionSummary summary = found();
  summary.result->drift = {{3, "tile:rows=32", 0.98, 0.95, 1.01}};
  EXPECT_TRUE(remarks(summary, "").empty()) << "noise";
  summary.result->drift.push_back({9, "tile:rows=32", 1.2, 1.1, 1.3});
  EXPECT_EQ(
      remarks(summary, ""),
      std::vector<std::string>{"drift: the leading config, run again during the search, took 0.98 "
                               "to 1.20 times as long as at first; trials are corrected for that "
                               "up to 1.25x, and the finals, where configs run in turn, decide"});
}

TrialRecord tried(std::int64_t sequence, const std::string& variant, Outcome outcome,
                  const std::string& message, double time_ns = 0) {
  TrialRecord record;
  record.sequence = sequence;
  record.trial.config = {variant, {{"rows", sequence}}};
  record.trial.outcome = outcome;
  record.trial.message = message;
  record.trial.time_ns = time_ns;
  return record;
}

TEST(Report, TellsOfVariantsOfWhichEveryConfigFailed) {
  SessionSummary summary = found();
  summary.trials = {tried(1, "tile", Outcome::ok, "", 10'000),
                    tried(2, "tile", Outcome::wrong_result, "element 0 is 1"),
                    tried(3, "vector", Outcome::launch_error, "entry v4 not found\nin the module"),
                    tried(4, "vector", Outcome::launch_error, "entry v8 not found"),
                    tried(5, "vector", Outcome::compile_timeout, "no end after 60 s"),
                    tried(6, "strip", Outcome::compile_error, "line 3: no such word")};
  EXPECT_EQ(
      remarks(summary, ""),
      (std::vector<std::string>{
          "the only config tried of variant 'strip' failed (compile_error): line 3: no such word",
          "1 of 2 configs of variant 'tile' failed (wrong_result): element 0 is 1",
          "all 3 configs of variant 'vector' failed, 2 of them (launch_error): entry v4 not "
          "found"}));
}

TEST(Report, TellsHowFarSearchAndFinalsDisagree) {
  SessionSummary summary = found();
  summary.trials = {tried(1, "tile", Outcome::ok, "", 23'000)};
  const std::string config = summary.trials[0].trial.config.text();
  std::string rounds;
  for (int i = 0; i < 20; ++i) rounds += i == 0 ? "10000" : ",10000";
  summary.result->best->evidence = R"({"finalists": [{"config": ")" + config +
                                   R"(", "sequence": 1, "samples_ns": [)" + rounds + "]}]}";
  const std::vector<std::string> lines = remarks(summary, "");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            "noise: for the same config search and finals differ by up to 2.30x, so compare only "
            "times of the finals; times are more precise on an idle machine");
  summary.trials[0].trial.time_ns = 10'100;
  EXPECT_TRUE(remarks(summary, "").empty());
  summary.result->best->evidence = "no JSON";
  EXPECT_TRUE(remarks(summary, "").empty());
}

TEST(Report, EscapesBarsInMarkdown) {
  EXPECT_EQ(report({refused()}, std::nullopt, ReportFormat::markdown),
            "| kernel | problem | naive | default | best | speed-up | rate | verdict | trials | "
            "failures | config |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n"
            "| reduce | n=10 map=x\\|1 | - | - | - | - | - | none | 0 | 0 | no config is legal: "
            "tree: too large |\n");
}

TEST(Report, IsJsonWithPlainNumbers) {
  const Json json = Json::parse(report({found(), refused()}, std::nullopt, ReportFormat::json));
  EXPECT_EQ(json["sessions"][0], Json::parse(R"({
    "kernel": "transpose", "problem": "rows=64 cols=64", "session": 4, "state": "finished",
    "device": "///", "selector": ":0", "space_size": 96, "trials": 40, "failures": 2,
    "earlier_trials": 0, "only_default": false, "wall_seconds": 12.5,
    "warm_start": [{"config": "tile:rows=64", "from": "the best of rows=32 cols=32 on this device"}],
    "throttled_trials": 0, "throttle": "", "drift": [], "time_use": null, "timing": "eager",
    "config": {"variant": "tile", "tunables": {"rows": 32, "pad": true}},
    "config_text": "tile:rows=32,pad=true",
    "time_ns": 10000.0, "default_time_ns": 25000.0, "naive_time_ns": 123400.0,
    "bytes": 1000000.0, "flops": 0.0, "verdict": "better",
    "objective": "time", "value": 10000.0, "default_value": 25000.0,
    "against": null, "share_of_ceiling": null, "proved_by_itself": false, "not_tried": []})"));
  EXPECT_EQ(json["sessions"][1], Json::parse(R"({
    "kernel": "reduce", "problem": "n=10 map=x|1",
    "error": "no config is legal:\n  tree: too large"})"));
  EXPECT_FALSE(json.contains("ceilings"));
}

TEST(Summarise, CountsWhatIsReadAndWritten) {
  const KernelSpec spec = KernelLibrary().load("transpose");
  DeviceInfo device;
  device.backend = "opencl";
  const Problem problem = Problem::parse(spec, "rows=64,cols=32,dtype=f64");
  const SessionSummary summary = summarise({spec, problem, device});
  EXPECT_EQ(summary.kernel, "transpose");
  EXPECT_EQ(summary.problem, problem.short_text(spec));
  EXPECT_DOUBLE_EQ(summary.read_share, 0.5);
  EXPECT_EQ(summary.arithmetic, DType::f64);
}

}  // namespace
}  // namespace kiln::cli
