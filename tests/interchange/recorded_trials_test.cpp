// Recorded trials of other tuners: what is read from a Kernel Tuner cache and a T4 file, and what
// is said of a file that is neither.
// SPDX-License-Identifier: Apache-2.0
#include "interchange/recorded_trials.hpp"

#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

const std::string kCache = R"({
"device_name": "NVIDIA RTX 1",
"kernel_name": "saxpy",
"problem_size": [4096, 16],
"tune_params_keys": ["block", "layout"],
"tune_params": {"block": [64, 32], "layout": ["row", "column"]},
"objective": "time",
"cache": {
"64,row": {"block": 64, "layout": "row", "time": 0.5, "times": [0.4, 0.6], "compile_time": 30.0, "GFLOP/s": 12.5, "timestamp": "2026-01-01 00:00:02"},
"32,row": {"block": 32, "layout": "row", "time": "CompilationFailedConfig", "timestamp": "2026-01-01 00:00:01"},
"32,column": {"block": 32, "layout": "column", "time": "RuntimeFailedConfig", "times": [1.0], "timestamp": "2026-01-01 00:00:03"},
"64,column": {"block": 64, "layout": "column", "time": 1e20, "timestamp": "2026-01-01 00:00:04"})";

const std::string kT4 = R"({
"metadata": {"timeunit": "microseconds"},
"schema_version": "1.0.0",
"results": [
 {"timestamp": "t1", "configuration": {"unroll": 4, "fast": true}, "times": {"runtimes": [10, 30]},
  "invalidity": "correct", "measurements": [{"name": "time", "value": 20.5}, {"name": "power", "value": 7}]},
 {"configuration": {"unroll": 1, "fast": true}, "times": {"runtimes": [10, 30]}, "invalidity": "correct"},
 {"configuration": {"unroll": 2, "fast": false}, "invalidity": "correctness",
  "measurements": [{"name": "time", "value": "RuntimeFailedConfig"}]},
 {"configuration": {"unroll": 1, "fast": false}, "invalidity": "timeout"}
]})";

std::string fault_of(const std::string& text) {
  try {
    (void)read_recorded_trials(text, "old.json");
    return "nothing";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// The one row that cannot be read.
std::string bad_row_of(const std::string& text) {
  const RecordedTrials read = read_recorded_trials(text, "old.json");
  return read.bad.size() == 1 ? read.bad.front() : std::to_string(read.bad.size()) + " bad rows";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(KernelTunerCache, GivesTunablesAndTrialsInTheOrderTheyWereTaken) {
  const RecordedTrials read = read_recorded_trials(kCache + "}}", "old.json");
  EXPECT_EQ(read.kernel, "saxpy");
  EXPECT_EQ(read.device, "NVIDIA RTX 1");
  EXPECT_EQ(read.problem, "4096 16");
  const std::vector<RecordedTunable> tunables = {
      {"block", {std::int64_t{64}, std::int64_t{32}}},
      {"layout", {std::string("row"), std::string("column")}}};
  EXPECT_EQ(read.tunables, tunables);
  ASSERT_EQ(read.trials.size(), 4u);
  EXPECT_EQ(read.trials[0].outcome, Outcome::compile_error);
  EXPECT_EQ(read.trials[0].message, "CompilationFailedConfig");
  EXPECT_EQ(read.trials[0].time_ns, 0);
  const RecordedTrial ok = {{std::int64_t{64}, std::string("row")},
                            Outcome::ok,
                            "",
                            5e5,
                            {4e5, 6e5},
                            {{"GFLOP/s", 12.5}},
                            "2026-01-01 00:00:02"};
  EXPECT_EQ(read.trials[1], ok);
  EXPECT_EQ(read.trials[2].outcome, Outcome::launch_error);
  EXPECT_TRUE(read.trials[2].samples_ns.empty());
  EXPECT_EQ(read.trials[3].outcome, Outcome::launch_error) << "a time of 1e20 is an old failure";
}

TEST(KernelTunerCache, IsReadUpToItsEndWhenTheTunerWasInterrupted) {
  const RecordedTrials whole = read_recorded_trials(kCache + "}}", "old.json");
  EXPECT_EQ(read_recorded_trials(kCache, "old.json"), whole);
  EXPECT_EQ(read_recorded_trials(kCache + ",\n", "old.json"), whole);
}

TEST(KernelTunerCache, SaysWhichTrialIsWrong) {
  const std::string whole = kCache + "}}";
  EXPECT_EQ(
      bad_row_of(replaced(whole, "\"time\": 0.5", "\"time\": -0.5")),
      "old.json:9:11: trial '64,row': expected \"time\" to be a number above 0 or the name of "
      "a failure, found -0.5");
  EXPECT_EQ(bad_row_of(replaced(whole, "{\"block\": 64,", "{")),
            "old.json:9:11: trial '64,row': expected a value of block, found nothing");
  EXPECT_EQ(bad_row_of(replaced(whole, "{\"block\": 64,", "{\"block\": 65,")),
            "old.json:9:11: trial '64,row': 65 is none of the values of block");
  EXPECT_EQ(fault_of(replaced(whole, "\"layout\": [", "\"lay\": [")),
            "old.json: expected \"tune_params\" to list the values of \"layout\"");
  EXPECT_EQ(fault_of(replaced(whole, "\"cache\": {", "\"cache\": {}, \"more\": {")),
            "old.json: the cache holds no trial");
  EXPECT_EQ(fault_of(replaced(whole, "\"saxpy\",", "\"saxpy\"")),
            "old.json:4:1: unexpected string literal; expected '}'");
  EXPECT_EQ(fault_of(replaced(whole, "[\"block\", \"layout\"]", "[\"block\", \"block\"]")),
            "old.json: \"tune_params_keys\" names block twice");
}

TEST(T4, GivesTunablesInAscendingOrderAndTimesInNanoseconds) {
  const RecordedTrials read = read_recorded_trials(kT4, "old.json");
  const std::vector<RecordedTunable> tunables = {
      {"unroll", {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}}}, {"fast", {false, true}}};
  EXPECT_EQ(read.tunables, tunables);
  ASSERT_EQ(read.trials.size(), 4u);
  const RecordedTrial first = {{std::int64_t{4}, true}, Outcome::ok,    "",  20500,
                               {10000, 30000},          {{"power", 7}}, "t1"};
  EXPECT_EQ(read.trials[0], first);
  EXPECT_EQ(read.trials[1].time_ns, 20000) << "the mean of the runs, where no time is stated";
  EXPECT_EQ(read.trials[2].outcome, Outcome::wrong_result);
  EXPECT_EQ(read.trials[2].message, "correctness");
  EXPECT_EQ(read.trials[3].outcome, Outcome::run_timeout);
}

TEST(T4, SaysWhichResultIsWrong) {
  EXPECT_EQ(bad_row_of(replaced(kT4, "\"unroll\": 1, ", "")),
            "old.json:7:2: result 2: expected a value of unroll, found nothing");
  EXPECT_EQ(bad_row_of(replaced(kT4, "\"unroll\": 1, ", "\"unroll\": 1, \"tile\": 2, ")),
            "old.json:7:2: result 2: expected the 2 tunables of the first result");
  EXPECT_EQ(bad_row_of(replaced(kT4, "\"correctness\"", "\"correct\"")),
            "old.json:8:2: result 3: expected a measurement \"time\" above 0, as its invalidity is "
            "'correct'");
  EXPECT_EQ(fault_of(replaced(kT4, "microseconds", "fortnights")),
            "old.json: expected \"timeunit\" to be s, ms, us or ns, or their names in full, not "
            "'fortnights'");
  EXPECT_EQ(fault_of(R"({"results": [], "configuration": 1})"),
            "old.json: expected \"results\" to be a list with at least one result");
}

TEST(RecordedTrials, OfAnUnknownFormatAreRefused) {
  EXPECT_EQ(fault_of(" \n"),
            "old.json: the file is empty; expected a Kernel Tuner cache or a T4 file");
  EXPECT_EQ(fault_of("{\"a\": 1}"),
            "old.json: expected a Kernel Tuner cache (JSON with \"tune_params_keys\" and "
            "\"cache\"), a T4 "
            "file (\"results\" and \"configuration\") or results of KTT; or, for "
            "`kiln replay`, a database of Kiln");
}

}  // namespace
}  // namespace kiln
