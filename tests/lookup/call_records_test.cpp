// Call records: lines of one call are added up, and each line that is no record has a sentence.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/call_records.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lookup/lookup.hpp"
#include "tests/db/scratch.hpp"

namespace kiln {
namespace {

using ::testing::StartsWith;

std::string line(const std::string& grade, int launches) {
  return R"({"kernel":"reduce","problem":"n=1","device":"d","grade":")" + grade +
         R"(","config":"c","selections":1,"launches":)" + std::to_string(launches) +
         R"(,"recorded_at":"2026-01-01T00:00:00Z"})" + "\n";
}

TEST(CallRecords, EveryGradeIsReadByItsName) {
  for (const Grade grade : kGrades) {
    EXPECT_EQ(parse_grade(name_of(grade)), grade);
    EXPECT_EQ(read_calls(line(std::string(name_of(grade)), 2), "c").records.size(), 1U);
  }
  EXPECT_EQ(parse_grade("fallback"), std::nullopt);
}

TEST(CallRecords, LinesThatAreNoneAreNamedAndTheOthersAreAddedUp) {
  const CallList list =
      read_calls(line("exact", 2) + "\n" + line("near_sise", 1) + "{\n" + line("exact", 3), "c");
  ASSERT_EQ(list.records.size(), 1U);
  EXPECT_EQ(list.records.front().launches, 5);
  ASSERT_EQ(list.bad.size(), 2U);
  EXPECT_EQ(list.bad[0],
            "c:3: 'near_sise' is no grade; did you mean 'near_size'? (there are: exact, near_size, "
            "same_arch, same_vendor, default)");
  EXPECT_THAT(list.bad[1], StartsWith("c:4: "));
}

CallRecord called(const std::string& problem, const std::string& grade, std::int64_t launches,
                  const std::string& config = "c") {
  return {"scale", problem, "cuda/nvidia/Test GPU/sm_90a", grade, config, 0, launches};
}

TEST(CallRecords, WhatWasNotExactIsOneEntryAProblemAndTheMostCalledComesFirst) {
  const std::vector<CallRecord> open = untuned(
      {called("n=1", "default", 0), called("n=2", "near_size", 3), called("n=2", "default", 2, "d"),
       called("n=3", "exact", 9), called("n=4", "same_arch", 7)});
  ASSERT_EQ(open.size(), 3U);
  EXPECT_EQ(open[0].problem, "n=4");
  EXPECT_EQ(open[1].problem, "n=2");
  EXPECT_EQ(open[1].launches, 5);
  EXPECT_EQ(open[2].problem, "n=1") << "a program that was killed told no counts";
}

TEST(CallRecords, ManyProcessesShareAFileWithoutLosingOrMixingLines) {
  constexpr int kProcesses = 8;
  constexpr int kEach = 250;
  const test::ScratchFolder folder;
  const auto path = folder / "new/calls.jsonl";
  const std::string long_problem(600, 'x');
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool all = true;
      for (int i = 0; i < kEach; ++i) {
        all = record_calls(path, called(long_problem + std::to_string(i % 5), "default", 1)) && all;
      }
      ::_exit(all ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::ifstream file(path, std::ios::binary);
  const CallList list = read_calls(std::string{std::istreambuf_iterator<char>(file), {}}, "c");
  EXPECT_TRUE(list.bad.empty());
  ASSERT_EQ(list.records.size(), 5U);
  for (const CallRecord& each : list.records) EXPECT_EQ(each.launches, kProcesses * kEach / 5);
}

TEST(CallRecords, TheEnvironmentNamesTheirFile) {
  for (const char* value : {"", "0", "1"}) {
    ::setenv("KILN_STATISTICS", value, 1);
    EXPECT_FALSE(call_records_path()) << value;
  }
  ::setenv("KILN_STATISTICS", "/tmp/c.jsonl", 1);
  EXPECT_EQ(call_records_path(), "/tmp/c.jsonl");
  ::unsetenv("KILN_STATISTICS");
  EXPECT_FALSE(call_records_path());
}

TEST(CallRecords, WhereNothingCanBeWrittenIsSaid) {
  EXPECT_FALSE(record_calls("/proc/no/calls.jsonl", called("n=1", "default", 1)));
  const test::ScratchFolder folder;
  EXPECT_EQ(calls_trouble(folder / "not/yet/c.jsonl"), "");
  EXPECT_FALSE(std::filesystem::exists(folder / "not")) << "it only looks";
  EXPECT_EQ(calls_trouble(folder / "."),
            (folder / ".").string() + ": is a folder; expected a file");
  std::ofstream(folder / "c.jsonl") << "";
  EXPECT_EQ(calls_trouble(folder / "c.jsonl"), "");
  const std::string file = (folder / "c.jsonl").string();
  EXPECT_EQ(calls_trouble(file + "/below"),
            file + "/below: cannot be made, for " + file + " is no folder");
}

}  // namespace
}  // namespace kiln
