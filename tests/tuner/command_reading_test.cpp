// Programs of the user, and a HIP in a folder.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/command_reading.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch_folder.hpp"
#include "tests/support/error_of.hpp"
#include "tuner/workers/hip_root.hpp"
#include "tuner/workers/worker_host.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ElementsAre;
using testing::HasSubstr;

// The times that programs tell of themselves.

std::vector<double> samples(const CommandSpec& command, const std::string& text) {
  const Result<std::vector<double>> read = read_samples(command, text);
  EXPECT_TRUE(read) << read.failure().message;
  return read ? *read : std::vector<double>();
}

std::string failure(const CommandSpec& command, const std::string& text) {
  const Result<std::vector<double>> read = read_samples(command, text);
  EXPECT_FALSE(read);
  return read ? "" : read.failure().message;
}

CommandSpec reader(CommandReader which, const std::string& time = "") {
  CommandSpec command;
  command.reader = which;
  command.time = time;
  return command;
}

TEST(CommandReading, TheLastNumberOfTheLastLine) {
  CommandSpec command = reader(CommandReader::last_line);
  command.unit_ns = 1e6;
  EXPECT_THAT(samples(command, "size 12\ntook 2 runs, 1.5e-1 ms\n\n"), ElementsAre(1.5e5));
  EXPECT_THAT(failure(command, "done\n"), HasSubstr("a number in the last line, which is 'done'"));
  EXPECT_THAT(failure(command, ""), HasSubstr("a number in the last line"));
  EXPECT_THAT(failure(command, "-3"), HasSubstr("a positive number, not -3"));
}

TEST(CommandReading, ReadsNumbersOfEveryKindInALine) {
  const CommandSpec command = reader(CommandReader::last_line);
  EXPECT_THAT(samples(command, "t=.5"), ElementsAre(0.5));
  EXPECT_THAT(samples(command, "t=+12.e2..."), ElementsAre(1200));
  EXPECT_THAT(samples(command, "7 runs, nan, infinity ms."), ElementsAre(7));
  EXPECT_THAT(samples(command, "0x10"), ElementsAre(10));
  EXPECT_THAT(failure(command, "5 1-2"), HasSubstr("a positive number, not -2"));
  for (const char* separated : {"1,120.5", "12'345", "1,234,567"}) {
    EXPECT_THAT(failure(command, fmt::format("took {} us\n", separated)),
                HasSubstr(fmt::format("digits alone in the last line; '{}' has", separated)));
  }
  EXPECT_THAT(samples(command, "took 1,1205 or 0,25, then 17.5 us\n"), ElementsAre(17.5));
  EXPECT_THAT(failure(command, "5 1e999"), HasSubstr("a number in the last line"));
  EXPECT_THAT(samples(command, std::string(4'000'000, 'a') + "3"), ElementsAre(3));
}

TEST(CommandReading, MoreIsBetterBecomesTheReciprocal) {
  CommandSpec command = reader(CommandReader::last_line);
  command.goal = Goal::maximise;
  EXPECT_THAT(samples(command, "40 GB/s"), ElementsAre(1e9 / 40));
}

TEST(CommandReading, EveryMatchOfAPattern) {
  CommandSpec command = reader(CommandReader::regex);
  command.pattern = Regex::parse("time: ([0-9.]+) us", "pattern");
  command.unit_ns = 1e3;
  EXPECT_THAT(samples(command, "time: 2 us\nspace: 9 us\ntime: 3.5 us\n"), ElementsAre(2e3, 3.5e3));
  EXPECT_THAT(failure(command, "time: x us"), HasSubstr("a match of 'time: "));
}

TEST(CommandReading, GoogleBenchmark) {
  CommandSpec command = reader(CommandReader::google_benchmark, "real_time");
  const std::string json = R"({"context": {}, "benchmarks": [
    {"name": "sort/8", "run_type": "iteration", "real_time": 2.5, "cpu_time": 1, "time_unit": "us"},
    {"name": "sort/8", "run_type": "iteration", "real_time": 3.5, "cpu_time": 1, "time_unit": "us"},
    {"name": "copy", "run_type": "iteration", "real_time": 7, "cpu_time": 7, "time_unit": "ns"},
    {"name": "sort/8_mean", "run_type": "aggregate", "real_time": 3, "time_unit": "us"}]})";
  command.benchmark = "sort";
  EXPECT_THAT(samples(command, json), ElementsAre(2500, 3500));
  command.time = "cpu_time";
  command.benchmark = "copy";
  EXPECT_THAT(samples(command, json), ElementsAre(7));
  command.benchmark = "";
  EXPECT_THAT(failure(command, json), HasSubstr("as many repetitions of each benchmark"));
  command.benchmark = "lost";
  EXPECT_THAT(failure(command, json),
              HasSubstr("a benchmark with 'lost' in its name with a 'cpu_time'"));
  EXPECT_THAT(failure(command, "[1,"), HasSubstr("the JSON of google_benchmark"));
  EXPECT_THAT(failure(command, R"({"benchmarks": [{"name": "lost", "error_occurred": true,
                                   "error_message": "no memory"}]})"),
              HasSubstr("benchmark 'lost': no memory"));
}

// Counters that were never set are NaN, which JSON has not.
TEST(CommandReading, GoogleBenchmarkWithCountersThatAreNoNumbers) {
  const CommandSpec command = reader(CommandReader::google_benchmark, "real_time");
  EXPECT_THAT(samples(command, R"({"benchmarks": [{"name": "a", "run_type": "iteration",
      "real_time": 2.5, "time_unit": "us", "ratio": NaN, "rate": -Infinity}]})"),
              ElementsAre(2500));
  EXPECT_THAT(failure(command, R"({"benchmarks": [{"name": "a", "run_type": "iteration",
      "real_time": NaN, "time_unit": "us"}]})"),
              HasSubstr("expected a positive number, not nan"));
}

TEST(CommandReading, GoogleBenchmarkOfAggregatesAlone) {
  const CommandSpec command = reader(CommandReader::google_benchmark, "real_time");
  const std::string begin = "warming up\n{\"benchmarks\": [";
  const auto aggregate = [](const std::string& kind, const std::string& time) {
    return R"({"name": "copy_)" + kind + R"(", "run_name": "copy", "run_type": "aggregate",
              "aggregate_name": ")" +
           kind + R"(", "real_time": )" + time + R"(, "time_unit": "us"})";
  };
  const std::string all = aggregate("mean", "3") + ", " + aggregate("median", "2") + ", " +
                          aggregate("stddev", "0.1") + ", " + aggregate("BigO", "9");
  EXPECT_THAT(samples(command, begin + all + "]}"), ElementsAre(2000));
  EXPECT_THAT(samples(command, begin + aggregate("mean", "3") + "]}"), ElementsAre(3000));
  EXPECT_THAT(samples(command, begin + all + R"(, {"name": "copy", "run_name": "copy",
      "run_type": "iteration", "real_time": 4, "time_unit": "us"}]})"),
              ElementsAre(4000));
}

TEST(CommandReading, Nvbench) {
  const CommandSpec command = reader(CommandReader::nvbench, "nv/cold/time/gpu/mean");
  const std::string json = R"({"benchmarks": [{"name": "scan", "states": [{"name": "Device=0",
    "is_skipped": false, "summaries": [
      {"tag": "nv/cold/time/cpu/mean", "data": [{"name": "value", "value": "9"}]},
      {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64",
                                                 "value": "1.25e-05"}]}]}]}]})";
  ASSERT_EQ(samples(command, json).size(), 1U);
  EXPECT_DOUBLE_EQ(samples(command, json)[0], 12500);
  EXPECT_THAT(failure(command, R"({"benchmarks": [{"name": "scan", "states": [
                {"name": "s", "is_skipped": true, "skip_reason": "too large"}]}]})"),
              HasSubstr("benchmark 'scan s' was skipped: too large"));
  for (const char* text : {"{}", "[]", "3", R"({"benchmarks": 3})", R"({"benchmarks": [[]]})"}) {
    EXPECT_THAT(failure(command, text), HasSubstr("a benchmark with a 'nv/cold")) << text;
  }
}

// A HIP in a folder: found by its files, and how a program is started there.

class HipRootTest : public testing::Test {
 protected:
  HipRootTest() {
    ::unsetenv("KILN_HIP_ROOT");
    ::unsetenv("KILN_HIP_LIBRARY");
  }
  ~HipRootTest() override {
    ::unsetenv("KILN_HIP_ROOT");
    ::unsetenv("KILN_HIP_LIBRARY");
  }
  void put(const fs::path& file) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << "x";
  }
  [[nodiscard]] std::string error() const {
    return test::error_of<UsageError>([&] { return find_hip_root(folder_); }, "found");
  }

  const ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

TEST_F(HipRootTest, IsTheNewestHipBesideALoader) {
  const fs::path libraries = "usr/lib/x86_64-linux-gnu";
  put(libraries / "ld-linux-x86-64.so.2");
  for (const char* name : {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.6.4.43484",
                           "libamdhip64.so.10x", "libother.so.9"})
    put(libraries / name);
  const HipRoot root = find_hip_root(folder_);
  EXPECT_EQ(root.libraries, folder_ / libraries);
  EXPECT_EQ(root.hip.filename(), "libamdhip64.so.7");
  EXPECT_EQ(find_hip_root(folder_ / libraries).libraries, folder_ / libraries);
}

TEST_F(HipRootTest, WithoutBothIsOneErrorThatSaysWhatWasExpected) {
  const std::string expected = "KILN_HIP_ROOT is '" + folder_.string() +
                               "': expected a folder that holds ld-linux-x86-64.so.2 and "
                               "libamdhip64.so.N, or has them in usr/lib/TRIPLE "
                               "(scripts/install_dependencies makes one)";
  EXPECT_EQ(error(), expected);
  put("ld-linux-x86-64.so.2");
  EXPECT_EQ(error(), expected);
  fs::remove(folder_ / "ld-linux-x86-64.so.2");
  put("libamdhip64.so.6");
  EXPECT_EQ(error(), expected);
  fs::remove_all(folder_);
  EXPECT_EQ(error(), expected);
}

TEST_F(HipRootTest, StartsHipWorkersAndNoOthers) {
  put("ld-linux-x86-64.so.2");
  put("libamdhip64.so.6");
  ::setenv("KILN_HIP_ROOT", folder_.c_str(), 1);
  WorkerHost host;
  const ChildCommand hip = host.command({WorkerKind::compile, "hip", 0});
  EXPECT_EQ(hip.program, folder_ / "ld-linux-x86-64.so.2");
  EXPECT_THAT(hip.arguments, ElementsAre("--library-path", folder_.string(),
                                         "/proc/" + std::to_string(::getpid()) + "/exe", "worker",
                                         "compile", "--backend", "hip", "--device", "0"));
  EXPECT_EQ(hip.environment.at("KILN_HIP_LIBRARY"), folder_ / "libamdhip64.so.6");
  const ChildCommand opencl = host.command({WorkerKind::compile, "opencl", 0});
  EXPECT_EQ(opencl.program, "/proc/self/exe");
  EXPECT_FALSE(opencl.environment.contains("KILN_HIP_LIBRARY"));
}

TEST_F(HipRootTest, LeavesALibraryThatWasChosen) {
  put("ld-linux-x86-64.so.2");
  put("libamdhip64.so.6");
  ::setenv("KILN_HIP_LIBRARY", "/my/libamdhip64.so.6", 1);
  ChildCommand command{"/usr/bin/kiln", {"worker"}, {}};
  start_in(find_hip_root(folder_), command);
  EXPECT_FALSE(command.environment.contains("KILN_HIP_LIBRARY"));
  EXPECT_EQ(command.arguments[2], "/usr/bin/kiln");
}

}  // namespace
}  // namespace kiln
