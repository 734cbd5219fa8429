// The report of sessions: the same facts as text, Markdown and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "cli/session_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "templates/library.hpp"

namespace kiln::cli {
namespace {

SessionSummary found() {
  BestRecord best;
  best.config = {"tile", {{"rows", std::int64_t{32}}, {"pad", true}}};
  best.time_ns = 10'000;
  best.default_time_ns = 25'000;
  best.naive_time_ns = 123'400;
  best.verdict = Verdict::better;
  best.bytes = 1e6;
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
  EXPECT_EQ(
      report({found(), refused()}, std::nullopt, ReportFormat::text),
      "kernel     problem           naive  default     best  speed-up      rate  verdict  trials"
      "  failures  config\n"
      "---------  ---------------  ------  -------  -------  --------  --------  -------  ------"
      "  --------  ---------------------\n"
      "transpose  rows=64 cols=64  123 us  25.0 us  10.0 us     2.50x  100 GB/s  better       40"
      "         2  tile:rows=32,pad=true\n"
      "reduce     n=10 map=x|1          -        -        -         -         -  none          0"
      "         0  no config is legal:\n");
}

TEST(Report, SaysWhyThereIsNoBest) {
  const std::string failed =
      report({without_best(SessionEnd::exhausted)}, std::nullopt, ReportFormat::text);
  EXPECT_NE(failed.find("none         40         2  no config was ok\n"), std::string::npos)
      << failed;
  const std::string stopped =
      report({without_best(SessionEnd::interrupted)}, std::nullopt, ReportFormat::text);
  EXPECT_NE(stopped.find("none         40         2  interrupted\n"), std::string::npos) << stopped;
}

TEST(Report, TellsTheShareOfTheCeilingThatFitsTheMix) {
  Ceilings ceilings;
  ceilings.read_bytes_per_s = 400e9;
  ceilings.copy_bytes_per_s = 200e9;
  const std::string copying = report({found()}, ceilings, ReportFormat::markdown);
  EXPECT_NE(copying.find("| 100 GB/s | 50.0% |"), std::string::npos) << copying;

  SessionSummary reading = found();
  reading.read_share = 0.99;
  const std::string read = report({reading}, ceilings, ReportFormat::markdown);
  EXPECT_NE(read.find("| 100 GB/s | 25.0% |"), std::string::npos) << read;
}

TEST(Report, TellsOfDriftBeyondNoise) {
  SessionResult result = *found().result;
  result.drift = {{3, "tile:rows=32", 0.98, 0.95, 1.01}};
  EXPECT_TRUE(remarks(result, "").empty()) << "noise";
  result.drift.push_back({9, "tile:rows=32", 1.2, 1.1, 1.3});
  EXPECT_EQ(remarks(result, ""),
            std::vector<std::string>{"drift: the leader, measured again 2 times, took 0.980 to "
                                     "1.200 of its time; beyond noise 1 time"});
}

TEST(Report, EscapesBarsInMarkdown) {
  EXPECT_EQ(
      report({refused()}, std::nullopt, ReportFormat::markdown),
      "| kernel | problem | naive | default | best | speed-up | rate | verdict | trials | "
      "failures | config |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n"
      "| reduce | n=10 map=x\\|1 | - | - | - | - | - | none | 0 | 0 | no config is legal: |\n");
}

TEST(Report, IsJsonWithPlainNumbers) {
  const Json json = Json::parse(report({found(), refused()}, std::nullopt, ReportFormat::json));
  EXPECT_EQ(json["sessions"][0], Json::parse(R"({
    "kernel": "transpose", "problem": "rows=64 cols=64", "session": 4, "state": "finished",
    "device": "///", "space_size": 96, "trials": 40, "failures": 2, "wall_seconds": 12.5,
    "warm_start": [{"config": "tile:rows=64", "from": "the best of rows=32 cols=32 on this device"}],
    "throttled_trials": 0, "throttle": "", "drift": [], "time_use": null,
    "config": {"variant": "tile", "tunables": {"rows": 32, "pad": true}},
    "config_text": "tile:rows=32,pad=true",
    "time_ns": 10000.0, "default_time_ns": 25000.0, "naive_time_ns": 123400.0,
    "bytes": 1000000.0, "flops": 0.0, "verdict": "better",
    "objective": "time", "value": 10000.0, "default_value": 25000.0, "share_of_ceiling": null,
    "proved_by_itself": false})"));
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
  const SessionSummary summary = summarise(spec, problem, device);
  EXPECT_EQ(summary.kernel, "transpose");
  EXPECT_EQ(summary.problem, problem.short_text(spec));
  EXPECT_DOUBLE_EQ(summary.read_share, 0.5);
  EXPECT_EQ(summary.arithmetic, DType::f64);
}

}  // namespace
}  // namespace kiln::cli
