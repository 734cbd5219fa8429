// Results of other tuners, and their conditions.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "interchange/described_space.hpp"
#include "interchange/recorded_trials.hpp"
#include "search/space.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Results of KTT as it writes them (tests/core/foreign): what is read, and what is said of a file
// that is cut or wrong.

std::string example(const std::string& name) {
  std::ifstream file(std::string(KILN_SOURCE_DIR) + "/tests/interchange/foreign/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

RecordedTrials read(const std::string& text) { return read_recorded_trials(text, "f.json"); }

std::string refusal_of(const std::string& text) {
  return test::error_of<InputError>([&] { return read(text); }, "nothing");
}

std::vector<std::string> bad_rows_of(const std::string& text) { return read(text).bad; }

std::vector<Outcome> outcomes_of(const RecordedTrials& recorded) {
  std::vector<Outcome> all;
  for (const RecordedTrial& trial : recorded.trials) all.push_back(trial.outcome);
  return all;
}

TEST(KttResults, GiveConfigsTimesAndFailures) {
  const RecordedTrials found = read(example("ktt.json"));
  EXPECT_EQ(found.kernel, "scale");
  EXPECT_EQ(found.device, "NVIDIA GeForce RTX 3080");
  const std::vector<RecordedTunable> tunables = {
      {"block_size", {std::int64_t{32}, std::int64_t{64}, std::int64_t{128}}},
      {"items", {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::int64_t{8}}}};
  EXPECT_EQ(found.tunables, tunables);
  EXPECT_THAT(outcomes_of(found),
              ElementsAre(Outcome::ok, Outcome::ok, Outcome::constraint, Outcome::wrong_result,
                          Outcome::compile_error, Outcome::launch_error));
  ASSERT_EQ(found.trials.size(), 6u);
  EXPECT_EQ(found.trials[1].time_ns, 11250);
  EXPECT_EQ(found.trials[1].taken_at, "2026-03-02 09:15:44 UTC");
  EXPECT_EQ(found.trials[2].message, "DeviceLimitsExceeded");
  EXPECT_EQ(found.trials[3].time_ns, 0) << "the time of a wrong result is no time";
  EXPECT_THAT(found.trials[0].metrics, testing::Contains(Pair("RegistersCount", 18)));
  EXPECT_THAT(found.trials[0].metrics, testing::Contains(Pair("dram__sectors_read.sum", 524288)));
  EXPECT_THAT(found.bad, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(KttResults, HaveTheUnitOfTheFile) {
  const std::string text = example("ktt.json");
  const auto time = [](const std::string& file) { return read(file).trials.at(1).time_ns; };
  EXPECT_EQ(time(with(text, "Microseconds", "Nanoseconds")), 11.25);
  EXPECT_EQ(time(with(text, "Microseconds", "Seconds")), 11.25e9);
  EXPECT_EQ(refusal_of(with(text, "Microseconds", "Jiffies")),
            "f.json: expected \"TimeUnit\" to be s, ms, us or ns, or their names in full, not "
            "'Jiffies'");
  const RecordedTrials silent = read(with(text, "\"TimeUnit\": \"Microseconds\",", ""));
  EXPECT_EQ(silent.trials.at(1).time_ns, 11.25e6);
  EXPECT_THAT(silent.notes, ElementsAre("f.json: states no \"TimeUnit\": times are taken as "
                                        "milliseconds, KTT's default"));
}

TEST(KttResults, ThatCannotBeReadAreNamed) {
  const std::string text = example("ktt.json");
  EXPECT_THAT(bad_rows_of(with(text, "\"Status\": \"Ok\"", "\"Status\": \"Fine\"")),
              ElementsAre("f.json:12:5: result 1: expected \"Status\" to be Ok, "
                          "ComputationFailed, ValidationFailed, CompilationFailed or "
                          "DeviceLimitsExceeded, found \"Fine\""));
  EXPECT_THAT(bad_rows_of(with(text, "\"TotalDuration\": 14.5", "\"TotalDuration\": 0.0")),
              ElementsAre("f.json:12:5: result 1: expected \"TotalDuration\" above 0, as its "
                          "status is Ok, found 0.0"));
  EXPECT_THAT(bad_rows_of(with(text, "\"Value\": 64,", "\"Value\": [64],")),
              ElementsAre("f.json:12:5: result 1: expected \"Configuration\" to give a name and a "
                          "value, found block_size: an array"));
  EXPECT_THAT(bad_rows_of(with(text, "\"Name\": \"items\"", "\"Name\": \"block_size\"")),
              ElementsAre("f.json:12:5: result 1: expected one value of block_size, found two"));
  const std::string last = text.substr(text.rfind("\"KernelName\": \"scale\""));
  EXPECT_THAT(bad_rows_of(with(text, last, with(last, "scale", "shift"))),
              ElementsAre(HasSubstr("result 6: expected the kernel 'scale' of the first result, "
                                    "found 'shift'")));
  EXPECT_EQ(refusal_of(R"({"Metadata": {}, "Results": [], "ComputationResults": 1})"),
            "f.json: expected \"Results\" to be a list with at least one result");
  EXPECT_EQ(refusal_of("<?xml version=\"1.0\"?>\n<TuningData><Results/></TuningData>"),
            "f.json: is a file of results of KTT as XML, which is not read; expected its JSON");
}

TEST(KttResults, ThatAreCutAreReadUpToThere) {
  const std::string text = example("ktt.json");
  const std::size_t third = text.find("\"Status\": \"DeviceLimitsExceeded\"");
  const RecordedTrials inside = read(text.substr(0, third));
  EXPECT_EQ(inside.trials.size(), 2u);
  EXPECT_THAT(inside.bad, ElementsAre(HasSubstr("result '3': the file ends here")));
  const RecordedTrials between = read(text.substr(0, text.rfind("\n  ],")));
  EXPECT_EQ(between.trials.size(), 6u);
  EXPECT_THAT(between.bad, ElementsAre("f.json: the file ends after result 6; expected the end "
                                       "of \"Results\""));
}

TEST(ForeignFormats, AreToldApart) {
  EXPECT_EQ(foreign_format(example("ktt.json")), "a file of results of KTT");
  EXPECT_EQ(foreign_format("{\"benchmarks\": [{\"name\": \"BM_copy\"}]}"), "");
}

// Recorded trials of other tuners: what is read from a Kernel Tuner cache and a T4 file, and what
// is said of a file that is neither.

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
  return test::error_of<InputError>([&] { return read_recorded_trials(text, "old.json"); },
                                    "nothing");
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

// Random conditions in Python syntax, counted by Python and by a space: they must agree.
//
// KILN_CONDITION_SEED chooses other conditions, KILN_CONDITIONS how many.

struct ClosePipe {
  void operator()(std::FILE* pipe) const { ::pclose(pipe); }
};

std::string environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

std::string spaces_of_python() {
  const std::string command = fmt::format(
      "python3 {}/tests/interchange/python_conditions.py {} {}", KILN_SOURCE_DIR,
      environment("KILN_CONDITION_SEED", "20261126"), environment("KILN_CONDITIONS", "400"));
  const std::unique_ptr<std::FILE, ClosePipe> pipe(::popen(command.c_str(), "r"));
  std::string text;
  std::array<char, 65536> block{};
  for (std::size_t count = 1; pipe && count > 0; text.append(block.data(), count)) {
    count = std::fread(block.data(), 1, block.size(), pipe.get());
  }
  return text;
}

TEST(PythonConditions, HoldForAsManyCombinationsAsPythonCounts) {
  const std::vector<DescribedSpace> spaces =
      read_described_spaces(spaces_of_python(), "python_conditions.py");
  EXPECT_GE(spaces.size(), 100u);
  for (const DescribedSpace& space : spaces) {
    const SpaceReport report = explain_space(space.variant);
    ASSERT_TRUE(report.variants.front().exact);
    EXPECT_EQ(report.variants.front().configs, space.configs)
        << space.variant.constraints.front().require.text();
  }
}

}  // namespace
}  // namespace kiln
