// Results of KTT as it writes them (tests/core/foreign): what is read, and what is said of a file
// that is cut or wrong.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "interchange/recorded_trials.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

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
  try {
    (void)read(text);
    return "nothing";
  } catch (const InputError& error) {
    return error.what();
  }
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

}  // namespace
}  // namespace kiln
