// Rows of other tuners' files: their units, objectives and words for failures, rows that contradict
// each other, and one bad row among good ones.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "interchange/recorded_trials.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RecordedTrials read_rows(const std::string& text) { return read_recorded_trials(text, "f.json"); }

std::vector<double> times(const RecordedTrials& recorded) {
  std::vector<double> all;
  for (const RecordedTrial& trial : recorded.trials) all.push_back(trial.time_ns);
  return all;
}

/// A T4 file of these results.
std::string t4(const std::string& results, const std::string& metadata = "{}") {
  return fmt::format("{{\"metadata\": {},\n\"results\": [\n{}\n]}}", metadata, results);
}

/// A result that ran; `measurement` is one measurement.
std::string result(int block, const std::string& measurement,
                   const std::string& more = R"("invalidity": "correct", "correctness": 1)") {
  return fmt::format(R"({{"configuration": {{"block": {}}}, "measurements": [{}], {}}})", block,
                     measurement, more);
}

std::string measured(const std::string& value, const std::string& unit,
                     const std::string& name = "time") {
  return fmt::format(R"({{"name": "{}", "value": {}, "unit": "{}"}})", name, value, unit);
}

/// A Kernel Tuner cache with one tunable; each row is "KEY": {ROW}.
std::string cache(const std::string& rows, const std::string& more = R"("objective": "time")") {
  return fmt::format(
      "{{\"tune_params_keys\": [\"block\"], \"tune_params\": {{\"block\": [32, 64, 128]}},\n{},\n"
      "\"cache\": {{\n{}\n}}}}",
      more, rows);
}

constexpr const char* kGood = R"("32": {"block": 32, "time": 2.0})";

// A file without line breaks must not be looked through from its start for each row: this one would
// take many minutes.
TEST(ForeignRows, OfAFileOfOneLineAreReadOnce) {
  std::string rows;
  constexpr int kRows = 300'000;
  for (int i = 0; i < kRows; ++i) rows += std::string(kGood) + ", ";
  const std::string bad = R"("64": {"block": 64, "time": ""})";
  const RecordedTrials recorded = read_rows(cache(rows + bad));
  ASSERT_EQ(recorded.bad.size(), 1);
  EXPECT_THAT(recorded.bad[0],
              AllOf(HasSubstr(fmt::format("f.json:4:{}: trial '64'", rows.size() + 7)),
                    HasSubstr("'' is no failure that is known here")));
}

TEST(ForeignUnits, AreTakenFromEachMeasurement) {
  const RecordedTrials recorded = read_rows(
      t4(result(32, measured("3037.4", "Microseconds", "TotalDuration")) + ",\n" +
         result(64, measured("2", "ms")) + ",\n" + result(96, measured("900", "ns")) + ",\n" +
         result(128, measured("0.5", "s")) + ",\n" + result(160, measured("7", "\u00b5s"))));
  EXPECT_THAT(recorded.bad, IsEmpty());
  EXPECT_THAT(recorded.notes, IsEmpty());
  EXPECT_THAT(times(recorded), ElementsAre(3037400, 2e6, 900, 5e8, 7000));
}

TEST(ForeignUnits, AreReadInAllUsualSpellings) {
  const std::map<double, std::vector<std::string>> units = {
      {1e9, {"s", "sec", "Seconds"}},
      {1e6, {"ms", "msec", "MS", "milliseconds", "miliseconds"}},
      {1e3, {"us", "usec", "\u00b5s", "\u03bcs", "microsecond"}},
      {1, {"ns", "nsecs", "nanoseconds", "Nanoseconds"}}};
  for (const auto& [ns, spellings] : units) {
    for (const std::string& unit : spellings) {
      EXPECT_THAT(times(read_rows(t4(result(32, measured("4", unit))))), ElementsAre(4 * ns))
          << unit;
      const std::string metadata = fmt::format(R"({{"timeunit": "{}"}})", unit);
      EXPECT_THAT(times(read_rows(t4(result(32, measured("4", "")), metadata))),
                  ElementsAre(4 * ns));
    }
  }
}

TEST(ForeignUnits, OfTheMeasurementWinsOverThatOfTheFile) {
  const RecordedTrials recorded =
      read_rows(t4(result(32, measured("4", "us"), R"("times": {"runtimes": [4000]})"),
                   R"({"timeunit": "ns"})"));
  EXPECT_THAT(times(recorded), ElementsAre(4000));
  EXPECT_THAT(recorded.trials[0].samples_ns, ElementsAre(4000));
}

TEST(ForeignUnits, ThatAreNotStatedAreMillisecondsSaidAloud) {
  const RecordedTrials recorded = read_rows(t4(result(32, measured("4", ""))));
  EXPECT_THAT(times(recorded), ElementsAre(4e6));
  EXPECT_THAT(recorded.notes, ElementsAre("f.json: states no unit of time: taken as milliseconds, "
                                          "as Kernel Tuner writes them"));
}

TEST(ForeignUnits, ThatAreNoTimeCostTheRow) {
  EXPECT_THAT(read_rows(t4(result(32, measured("4", "fortnights")))).bad,
              ElementsAre("f.json:3:1: result 1: expected the unit of \"time\" to be s, ms, us or "
                          "ns, or their names in full, not 'fortnights'"));
}

TEST(ForeignObjectives, OtherThanTheTimeAreNamed) {
  const auto objective = [](const std::string& objectives) {
    return read_rows(t4(result(32, measured("4", "ms"),
                               R"("invalidity": "correct", "objectives": )" + objectives)))
        .other_objective;
  };
  EXPECT_EQ(objective(R"(["time"])"), "");
  EXPECT_EQ(objective(R"(["TotalDuration"])"), "");
  EXPECT_EQ(objective(R"([])"), "");
  EXPECT_EQ(objective(R"(["energy"])"), "energy");
  EXPECT_EQ(objective(R"("energy")"), "energy");
  EXPECT_EQ(objective(R"(["time", "energy"])"), "time and energy");
  EXPECT_EQ(objective(R"([{"name": "score", "direction": "maximize"}])"), "score (maximised)");
  EXPECT_EQ(objective(R"([{"name": "time", "direction": "minimize"}])"), "");
  EXPECT_EQ(read_rows(cache(kGood, R"("objective": "GFLOP/s")")).other_objective, "GFLOP/s");
  EXPECT_EQ(read_rows(cache(kGood, R"("objective": "time", "objective_higher_is_better": true)"))
                .other_objective,
            "time (maximised)");
  EXPECT_EQ(read_rows(cache(kGood, R"("objective": "time", "objective_higher_is_better": false)"))
                .other_objective,
            "");
}

TEST(ForeignObjectives, NeedNoTimes) {
  const RecordedTrials recorded =
      read_rows(cache(R"("32": {"block": 32, "GFLOP/s": 2.0})", R"("objective": "GFLOP/s")"));
  EXPECT_THAT(recorded.bad, IsEmpty());
  EXPECT_EQ(recorded.trials.size(), 1u);
}

TEST(ForeignFailures, KnownWordsAreMapped) {
  for (const auto& [word, outcome] : std::vector<std::pair<std::string, Outcome>>{
           {"CompilationFailedConfig", Outcome::compile_error},
           {"RuntimeFailedConfig", Outcome::launch_error},
           {"InvalidConfig", Outcome::constraint},
           {"OutOfMemoryConfig", Outcome::out_of_memory},
           {"TimeoutConfig", Outcome::run_timeout},
           {"VerificationFailedConfig", Outcome::wrong_result},
           {"compile", Outcome::compile_error},
           {"correctness", Outcome::wrong_result},
           {"device_fault", Outcome::device_fault}}) {
    for (const std::string& row :
         {fmt::format(R"("time": "{}")", word), fmt::format(R"("__error__": "{}")", word)}) {
      const RecordedTrials recorded = read_rows(cache("\"32\": {\"block\": 32, " + row + "}"));
      ASSERT_THAT(recorded.bad, IsEmpty()) << word;
      EXPECT_EQ(recorded.trials[0].outcome, outcome) << word;
      EXPECT_EQ(recorded.trials[0].message, word);
      EXPECT_EQ(recorded.trials[0].time_ns, 0);
    }
  }
}

TEST(ForeignFailures, AreFoundInAnyField) {
  const RecordedTrials recorded =
      read_rows(cache(R"("32": {"block": 32, "time": 1e-3, "GFLOP/s": "RuntimeFailedConfig"})"));
  EXPECT_THAT(recorded.bad, IsEmpty());
  EXPECT_EQ(recorded.trials.at(0).outcome, Outcome::launch_error);
}

TEST(ForeignNumbers, WithSeparatorsAreNamed) {
  EXPECT_THAT(read_rows(cache(R"("32": {"block": 32, "time": "1,120.5"})")).bad,
              ElementsAre("f.json:4:7: trial '32': the number '1,120.5' has separators; expected "
                          "digits alone"));
}

TEST(ForeignRows, ALaterMeasurementReplacesAnEarlierOne) {
  const auto row = [](const char* key, const char* time, const char* when) {
    return fmt::format(R"("{}": {{"block": 32, "time": {}, "timestamp": "2026-05-0{}"}})", key,
                       time, when);
  };
  const RecordedTrials recorded =
      read_rows(cache(row("a", "3.0", "2") + ",\n" + row("b", "1.0", "1") + ",\n" +
                      row("c", "\"RuntimeFailedConfig\"", "1")));
  EXPECT_THAT(recorded.bad, IsEmpty());
  EXPECT_THAT(times(recorded), ElementsAre(3e6));
}

TEST(ForeignFailures, UnknownWordsAreNamed) {
  EXPECT_THAT(read_rows(cache(R"("32": {"block": 32, "time": "GremlinConfig"})")).bad,
              ElementsAre("f.json:4:7: trial '32': 'GremlinConfig' is no failure that is known "
                          "here; expected a time or InvalidConfig, CompilationFailedConfig, "
                          "RuntimeFailedConfig"));
  EXPECT_THAT(read_rows(t4(result(32, measured("4", "ms"), R"("invalidity": "gremlins")"))).bad,
              ElementsAre("f.json:3:1: result 1: the invalidity 'gremlins' is not known; expected "
                          "correct, compile, runtime, timeout, correctness or constraints"));
}

TEST(ForeignNumbers, InQuotesAreNumbers) {
  const RecordedTrials recorded =
      read_rows(cache(R"("32": {"block": "32", "time": "2.5", "times": ["2.5", 2]})"));
  EXPECT_THAT(recorded.bad, IsEmpty());
  EXPECT_THAT(times(recorded), ElementsAre(2.5e6));
  EXPECT_EQ(recorded.trials[0].values[0], Value(std::int64_t{32}));
  EXPECT_THAT(recorded.trials[0].samples_ns, ElementsAre(2.5e6, 2e6));
  EXPECT_THAT(times(read_rows(t4(result(32, measured("\"4\"", "ms"))))), ElementsAre(4e6));
}

TEST(ForeignNumbers, AreTheListedValueInEachSpelling) {
  const auto values_of = [](const std::string& list, const std::string& value) {
    const std::string text =
        fmt::format(R"({{"tune_params_keys": ["x"], "tune_params": {{"x": {}}}, )"
                    R"("cache": {{"k": {{"x": {}, "time": 1}}}}}})",
                    list, value);
    return read_rows(text).trials.at(0).values.at(0);
  };
  EXPECT_EQ(values_of("[64, 128]", "64.0"), Value(std::int64_t{64}));
  EXPECT_EQ(values_of("[1.0, 2.0]", "1"), Value(1.0));
  EXPECT_EQ(values_of("[0, 1]", "true"), Value(std::int64_t{1}));
  EXPECT_EQ(values_of("[true, false]", "0"), Value(false));
  EXPECT_EQ(values_of("[true, false]", "\"True\""), Value(true));
  EXPECT_EQ(values_of("[\"1\", \"2\"]", "\"1\""), Value(std::string("1")));
}

TEST(ForeignRows, ThatContradictThemselvesAreNotTaken) {
  for (const char* correctness : {"0", "false", "0.5"}) {
    const RecordedTrials recorded = read_rows(
        t4(result(32, measured("4", "ms")) + ",\n" +
           result(64, measured("1", "ms"),
                  fmt::format(R"("invalidity": "correct", "correctness": {})", correctness))));
    EXPECT_THAT(times(recorded), ElementsAre(4e6));
    EXPECT_THAT(recorded.bad,
                ElementsAre(fmt::format("f.json:4:1: result 2: its invalidity is 'correct', its "
                                        "correctness {}: they contradict each other",
                                        correctness)));
  }
}

TEST(ForeignRows, ThatContradictEachOtherAreLeftOutWithAWord) {
  const RecordedTrials recorded =
      read_rows(t4(result(32, measured("4", "ms")) + ",\n" + result(64, measured("1", "ms")) +
                   ",\n" + result(64, "", R"("invalidity": "correctness")")));
  EXPECT_THAT(times(recorded), ElementsAre(4e6));
  EXPECT_THAT(recorded.bad, ElementsAre("f.json: block=64 ran in one row and failed in another "
                                        "('correctness'): it is left out"));
}

TEST(ForeignRows, HaveTheMetricsThatAreNumbers) {
  const RecordedTrials recorded = read_rows(
      cache(R"("32": {"block": 32, "time": 2.0, "volts": NaN, "watts": 200, "peak": Infinity})"));
  EXPECT_THAT(recorded.bad, IsEmpty());
  EXPECT_THAT(times(recorded), ElementsAre(2e6));
  EXPECT_THAT(recorded.trials.at(0).metrics, ElementsAre(testing::Pair("watts", 200)));
}

TEST(OneBadRow, CostsThatRowAndSaysWhy) {
  for (const auto& [row, why] : std::vector<std::pair<std::string, std::string>>{
           {R"("block": 64, "time": NaN)",
            "f.json:5:7: trial '64': expected \"time\" to be a number above 0 or the name of a "
            "failure, found NaN"},
           {R"("block": NaN, "time": 1)",
            "f.json:5:7: trial '64': expected a value of block, found NaN"},
           {R"("block": 64, "time": nan)", "f.json:5:29: trial '64': nan is no JSON"},
           {R"("block": 64, "time": null)",
            "f.json:5:7: trial '64': expected \"time\" to be a number above 0 or the name of a "
            "failure, found null"},
           {R"("block": 64, "time": 0)",
            "f.json:5:7: trial '64': expected \"time\" to be a number above 0 or the name of a "
            "failure, found 0"},
           {R"("block": 64, "time": -1.5)",
            "f.json:5:7: trial '64': expected \"time\" to be a number above 0 or the name of a "
            "failure, found -1.5"},
           {R"("block": 64)",
            "f.json:5:7: trial '64': expected \"time\" to be a number above 0 or the name of a "
            "failure, found nothing"},
           {R"("block": 64, "time": 1,)", "f.json:5:31: trial '64': trailing comma before '}'"},
           {R"("block": 64 "time": 1)",
            "f.json:5:20: trial '64': unexpected string literal; expected '}'"},
           {R"("block": 64, 'time': 1)",
            "f.json:5:21: trial '64': a single quote; JSON has double quotes"},
           {R"("block": 64, "time": None)",
            "f.json:5:29: trial '64': None is Python; JSON writes null"},
           {R"("block": 64, "block": 32, "time": 1)",
            "f.json:5:21: trial '64': the key \"block\" is here a second time"},
           {R"("block": 65, "time": 1)",
            "f.json:5:7: trial '64': 65 is none of the values of block"},
           {R"("time": 1)", "f.json:5:7: trial '64': expected a value of block, found nothing"},
           {R"("block": 64, "time": 1e999)",
            "f.json:5:29: trial '64': the number 1e999 is out of range"}}) {
    for (const bool last : {false, true}) {
      const std::string bad = "\"64\": {" + row + "}";
      const std::string good = R"("128": {"block": 128, "time": 1.0})";
      const RecordedTrials recorded =
          read_rows(cache(std::string(kGood) + ",\n" + (last ? bad : bad + ",\n" + good)));
      EXPECT_THAT(recorded.bad, ElementsAre(why)) << row;
      EXPECT_EQ(recorded.trials.size(), last ? 1u : 2u) << row;
      EXPECT_THROW(
          (void)read_all_recorded_trials(cache(std::string(kGood) + ",\n" + bad), "f.json"),
          InputError);
    }
  }
}

TEST(OneBadRow, ThatIsCutEndsWhereTheNextBegins) {
  const RecordedTrials cut_in_the_middle =
      read_rows(cache(std::string(kGood) + ",\n\"64\": {\"block\": 64, \"ti\n" +
                      R"("128": {"block": 128, "time": 1.0})"));
  ASSERT_EQ(cut_in_the_middle.bad.size(), 1u);
  EXPECT_THAT(cut_in_the_middle.bad[0], HasSubstr("trial '64': a string must end in its own line"));
  const std::string whole = cache(std::string(kGood) + ",\n\"64\": {\"block\": 64, \"time\": 1.0}");
  const std::size_t begin = whole.find("\"64\": {");
  for (std::size_t end = begin + 8; end < whole.find('}', begin); ++end) {
    const RecordedTrials recorded = read_rows(whole.substr(0, end));
    EXPECT_EQ(recorded.trials.size(), 1u) << end;
    EXPECT_EQ(recorded.bad.size(), 1u) << end;
  }
  const RecordedTrials joined = read_rows(cache(R"("32,1": {"block": 32, "time": 2.0,)"
                                                "\n"
                                                R"("64,1": {"block": 64, "time": 1.0})"));
  EXPECT_THAT(times(joined), ElementsAre(1e6));
  EXPECT_THAT(joined.bad,
              ElementsAre("f.json:5:1: trial '32,1': another one begins before this one ends"));
}

TEST(OneBadRow, ThatIsEmptyIsNamed) {
  const RecordedTrials recorded =
      read_rows(cache(std::string(kGood) + ",\n,\n" + R"("128": {"block": 128, "time": 1.0})"));
  EXPECT_THAT(times(recorded), ElementsAre(2e6, 1e6));
  EXPECT_THAT(recorded.bad, ElementsAre("f.json:5:1: trial: expected one value"));
}

TEST(OneBadRow, OfT4CostsThatResult) {
  const std::string good = result(32, measured("4", "ms"));
  const RecordedTrials recorded = read_rows(t4(good + ",\n" + result(64, measured("NaN", "ms")) +
                                               ",\n" + result(96, measured("2", "ms"))));
  EXPECT_THAT(times(recorded), ElementsAre(4e6, 2e6));
  ASSERT_EQ(recorded.bad.size(), 1u);
  EXPECT_THAT(recorded.bad[0], HasSubstr("f.json:4:"));
  EXPECT_THAT(recorded.bad[0], HasSubstr("result 2: expected a measurement \"time\" above 0"));
  const std::string cut = t4(good + ",\n" + good);
  EXPECT_THAT(read_rows(cut.substr(0, cut.size() - 2)).bad,
              ElementsAre("f.json: the file ends after result 2; expected the end of "
                          "\"results\""));
}

}  // namespace
}  // namespace kiln
