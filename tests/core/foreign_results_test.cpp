// Results of KTT, of CLBlast's tuners and of nvbench, as their programs write them
// (tests/core/foreign): what is read, and what is said of a file that is cut or wrong.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/interchange/recorded_groups.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string example(const std::string& name) {
  std::ifstream file(std::string(KILN_SOURCE_DIR) + "/tests/core/foreign/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::vector<RecordedTrials> groups_of(const std::string& text) {
  return read_recorded_groups(text, "f.json");
}

std::string refusal_of(const std::string& text) {
  try {
    (void)groups_of(text);
    return "nothing";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// What is wrong with the rows of all groups.
std::vector<std::string> bad_rows_of(const std::string& text) {
  std::vector<std::string> all;
  for (const RecordedTrials& group : groups_of(text)) {
    all.insert(all.end(), group.bad.begin(), group.bad.end());
  }
  return all;
}

std::vector<Outcome> outcomes_of(const RecordedTrials& recorded) {
  std::vector<Outcome> all;
  for (const RecordedTrial& trial : recorded.trials) all.push_back(trial.outcome);
  return all;
}

std::vector<std::string> names_of(const RecordedTrials& recorded) {
  std::vector<std::string> all;
  for (const RecordedTunable& tunable : recorded.tunables) all.push_back(tunable.name);
  return all;
}

TEST(KttResults, GiveConfigsTimesAndFailures) {
  const RecordedTrials read = read_recorded_trials(example("ktt.json"), "f.json");
  EXPECT_EQ(read.kernel, "scale");
  EXPECT_EQ(read.device, "NVIDIA GeForce RTX 3080");
  const std::vector<RecordedTunable> tunables = {
      {"block_size", {std::int64_t{32}, std::int64_t{64}, std::int64_t{128}}},
      {"items", {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::int64_t{8}}}};
  EXPECT_EQ(read.tunables, tunables);
  EXPECT_THAT(outcomes_of(read),
              ElementsAre(Outcome::ok, Outcome::ok, Outcome::constraint, Outcome::wrong_result,
                          Outcome::compile_error, Outcome::launch_error));
  ASSERT_EQ(read.trials.size(), 6u);
  EXPECT_EQ(read.trials[1].time_ns, 11250);
  EXPECT_EQ(read.trials[1].taken_at, "2026-03-02 09:15:44 UTC");
  EXPECT_EQ(read.trials[2].message, "DeviceLimitsExceeded");
  EXPECT_EQ(read.trials[3].time_ns, 0) << "the time of a wrong result is no time";
  EXPECT_THAT(read.trials[0].metrics, testing::Contains(Pair("RegistersCount", 18)));
  EXPECT_THAT(read.trials[0].metrics, testing::Contains(Pair("dram__sectors_read.sum", 524288)));
  EXPECT_THAT(read.bad, IsEmpty());
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(KttResults, HaveTheUnitOfTheFile) {
  const std::string text = example("ktt.json");
  const auto time = [](const std::string& file) {
    return groups_of(file).at(0).trials.at(1).time_ns;
  };
  EXPECT_EQ(time(with(text, "Microseconds", "Nanoseconds")), 11.25);
  EXPECT_EQ(time(with(text, "Microseconds", "Seconds")), 11.25e9);
  EXPECT_EQ(refusal_of(with(text, "Microseconds", "Jiffies")),
            "f.json: expected \"TimeUnit\" to be s, ms, us or ns, or their names in full, not "
            "'Jiffies'");
  const RecordedTrials silent = groups_of(with(text, "\"TimeUnit\": \"Microseconds\",", "")).at(0);
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
  const RecordedTrials inside = groups_of(text.substr(0, third)).at(0);
  EXPECT_EQ(inside.trials.size(), 2u);
  EXPECT_THAT(inside.bad, ElementsAre(HasSubstr("result '3': the file ends here")));
  const RecordedTrials between = groups_of(text.substr(0, text.rfind("\n  ],"))).at(0);
  EXPECT_EQ(between.trials.size(), 6u);
  EXPECT_THAT(between.bad, ElementsAre("f.json: the file ends after result 6; expected the end "
                                       "of \"Results\""));
}

TEST(ClblastResults, GiveConfigsArgumentsAndTimesInMilliseconds) {
  const RecordedTrials read = read_recorded_trials(example("clblast_tuner.json"), "f.json");
  EXPECT_EQ(read.kernel, "xscale_1");
  EXPECT_EQ(read.device, "GeForce RTX 3080");
  EXPECT_THAT(names_of(read), ElementsAre("block_size", "items"))
      << "PRECISION is the file's, not a tunable";
  EXPECT_THAT(read.arguments,
              ElementsAre(Pair("n", "4194304"), Pair("alpha", "2.00"), Pair("precision", "32")));
  EXPECT_THAT(outcomes_of(read),
              ElementsAre(Outcome::ok, Outcome::ok, Outcome::ok, Outcome::launch_error));
  EXPECT_DOUBLE_EQ(read.trials.at(2).time_ns, 11000);
  EXPECT_EQ(read.trials.at(3).message, "-1.0");
  EXPECT_FALSE(read.is_part);
}

TEST(ClblastResults, ThatCannotBeReadAreNamed) {
  const std::string text = example("clblast_tuner.json");
  EXPECT_THAT(bad_rows_of(with(text, "\"time\": 0.015", "\"time\": 0.000")),
              ElementsAre("f.json:22:5: result 1: expected \"time\" above 0, or -1 for a failure, "
                          "found 0.0"));
  EXPECT_THAT(bad_rows_of(with(text, "\"PRECISION\": 32,\"block", "\"PRECISION\": 16,\"block")),
              ElementsAre("f.json:22:5: result 1: expected PRECISION to be 32 as in the head of "
                          "the file, found 16"));
  EXPECT_THAT(bad_rows_of(with(text, "\"items\": 4", "\"items\": 4,\"VW\": 2")),
              ElementsAre("f.json:27:5: result 2: expected the 2 tunables of the first config, "
                          "found 3"));
  EXPECT_EQ(refusal_of(with(text, "\"precision\"", "\"time_unit\": \"ticks\",\n  \"precision\"")),
            "f.json: expected \"time_unit\" to be s, ms, us or ns, or their names in full, not "
            "'ticks'");
  EXPECT_THAT(bad_rows_of(text.substr(0, text.rfind("\"parameters\""))),
              ElementsAre(HasSubstr("result '4': the file ends here")));
}

TEST(ClblastDatabase, GivesAGroupForEachSection) {
  const std::vector<RecordedTrials> read = groups_of(example("clblast_database.json"));
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read[1].path, "f.json: sections[1]");
  EXPECT_EQ(read[1].kernel, "ScaleFast");
  EXPECT_EQ(read[1].device, "GeForce RTX 3080");
  EXPECT_TRUE(read[1].is_part);
  EXPECT_THAT(read[1].arguments, ElementsAre(Pair("alpha", "2.000000"), Pair("n", "8388608"),
                                             Pair("precision", "32")));
  EXPECT_THAT(names_of(read[3]), ElementsAre("VW", "WGS", "WPT"));
  const std::vector<Value> config = {std::int64_t{4}, std::int64_t{128}, std::int64_t{1}};
  EXPECT_EQ(read[3].trials.at(1).values, config);
  EXPECT_DOUBLE_EQ(read[3].trials.at(1).time_ns, 15000);
}

TEST(ClblastDatabase, ThatCannotBeReadIsNamedByItsSection) {
  const std::string text = example("clblast_database.json");
  EXPECT_THAT(bad_rows_of(with(text, "\"64,4\"", "\"64\"")),
              ElementsAre(HasSubstr("sections[1].results[1]: expected 2 values, one for each of "
                                    "\"parameter_names\", found '64'")));
  EXPECT_THAT(bad_rows_of(with(text, "\"64,4\"", "\"64,4,1\"")),
              ElementsAre(HasSubstr("sections[1].results[1]: expected 2 values")));
  EXPECT_THAT(bad_rows_of(with(text, "\"results\": [", "\"results\": 1, \"more\": [")),
              ElementsAre("f.json:3:5: sections[0]: expected \"results\" to be a list of results"));
  EXPECT_THAT(bad_rows_of(text.substr(0, text.rfind("\"precision\""))),
              ElementsAre(HasSubstr("section '4': the file ends here")));
  try {
    (void)read_recorded_trials(text, "f.json");
    FAIL() << "a database is no space";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "f.json: holds several kernels or problems, which only `kiln db import` reads");
  }
}

TEST(NvbenchResults, GiveTheStatesOfEachBenchmarkAsTrials) {
  const std::vector<RecordedTrials> read = groups_of(example("nvbench.json"));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].path, "f.json: benchmarks[0]");
  EXPECT_EQ(read[0].kernel, "scale");
  EXPECT_EQ(read[0].device, "NVIDIA GeForce RTX 3080");
  EXPECT_THAT(names_of(read[0]), ElementsAre("block_size", "items", "Elements"));
  EXPECT_THAT(outcomes_of(read[0]), ElementsAre(Outcome::ok, Outcome::ok, Outcome::constraint,
                                                Outcome::ok, Outcome::launch_error));
  EXPECT_DOUBLE_EQ(read[0].trials.at(1).time_ns, 11250) << "the median, not the mean";
  EXPECT_EQ(read[0].trials.at(2).message, "items of a block exceed 256");
  EXPECT_THAT(read[0].trials.at(0).metrics, testing::Contains(Pair("nv/cold/sample_size", 4096)));
  EXPECT_DOUBLE_EQ(read[1].trials.at(0).time_ns, 25000) << "the mean, where there is no median";
  EXPECT_EQ(read[1].kernel, "throughput");
  EXPECT_EQ(read[1].tunables.at(0).values, std::vector<Value>{std::string("f32")})
      << "a type axis has Kiln's names";
}

TEST(NvbenchResults, ThatCannotBeReadAreNamedByTheirState) {
  const std::string text = example("nvbench.json");
  const std::size_t mean = text.find("nv/cold/time/gpu/mean");
  const auto edited = [&](const std::string& from, const std::string& to) {
    return text.substr(0, mean) + with(text.substr(mean), from, to);
  };
  EXPECT_THAT(bad_rows_of(edited("\"duration\"", "\"percentage\"")),
              ElementsAre(HasSubstr("benchmarks[0].states[0]: expected the hint of "
                                    "nv/cold/time/gpu/mean to be \"duration\", which is seconds, "
                                    "found \"percentage\"")));
  EXPECT_THAT(bad_rows_of(edited("1.5e-05", "0")),
              ElementsAre(HasSubstr("benchmarks[0].states[0]: expected nv/cold/time/gpu/mean to "
                                    "be a number of seconds above 0")));
  EXPECT_THAT(bad_rows_of(with(text, "\"is_skipped\": true", "\"is_skipped\": false")),
              ElementsAre(HasSubstr("benchmarks[0].states[2]: expected a summary "
                                    "nv/cold/time/gpu/mean or nv/cold/time/gpu/median, as the "
                                    "state was not skipped")));
  EXPECT_EQ(refusal_of(with(text, "\"major\": 1", "\"major\": 2")),
            "f.json: expected version 1 of nvbench's JSON at meta.version.json, found 2");
  EXPECT_THAT(bad_rows_of(text.substr(0, text.rfind("\"Stride\""))),
              ElementsAre(HasSubstr("benchmark '2': the file ends here")));
  EXPECT_EQ(refusal_of(R"({"meta": {"version": {"json": {"major": 1}}}, "benchmarks": [
                        {"name": "a", "axes": []}]})"),
            "f.json: expected \"benchmarks\" with states, found a list without any");
}

TEST(NvbenchResults, SayWhyAStateWasSkipped) {
  const std::string text = example("nvbench.json");
  const auto outcome = [&](const std::string& reason) {
    return groups_of(with(text, "items of a block exceed 256", reason)).at(0).trials.at(2).outcome;
  };
  EXPECT_EQ(outcome("timeout"), Outcome::run_timeout);
  EXPECT_EQ(outcome("cudaErrorMemoryAllocation: out of memory"), Outcome::out_of_memory);
  EXPECT_EQ(outcome("Unexpected error: std::bad_alloc"), Outcome::out_of_memory);
  EXPECT_EQ(outcome("an exception of the benchmark"), Outcome::launch_error);
}

TEST(ForeignFormats, AreToldApart) {
  EXPECT_EQ(foreign_format(example("ktt.json")), "a file of results of KTT");
  EXPECT_EQ(foreign_format(example("clblast_tuner.json")),
            "a file of results of a tuner of CLBlast");
  EXPECT_EQ(foreign_format(example("clblast_database.json")), "the database of CLBlast's tuners");
  EXPECT_EQ(foreign_format(example("nvbench.json")), "a file of results of nvbench");
  EXPECT_EQ(foreign_format("{\"benchmarks\": [{\"name\": \"BM_copy\"}]}"), "");
}

}  // namespace
}  // namespace kiln
