// Untuned requests: many processes ask, one list comes out, and what was tuned leaves it.
// SPDX-License-Identifier: Apache-2.0
#include "lookup/requests.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/scratch.hpp"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Request asked(const std::string& problem, std::int64_t count = 1) {
  return {"scale", problem, "cuda/nvidia/Test GPU/sm_90a", "near_size", count};
}

RequestList read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return read_requests(text, "r.jsonl");
}

TEST(Requests, EqualOnesAreMergedAndTheMostFrequentComesFirst) {
  const test::ScratchFolder folder;
  const auto path = folder / "new/requests.jsonl";
  for (const char* problem : {"n=1", "n=2", "n=3", "n=2"}) {
    EXPECT_TRUE(record_request(path, asked(problem)));
  }
  EXPECT_THAT(read(path).open, ElementsAre(asked("n=2", 2), asked("n=1"), asked("n=3")));
  EXPECT_THAT(read(path).bad, IsEmpty());
}

TEST(Requests, WhatWasTunedLeavesTheListUntilItIsAskedForAgain) {
  const test::ScratchFolder folder;
  const auto path = folder / "requests.jsonl";
  record_request(path, asked("n=1"));
  record_request(path, asked("n=1"));
  record_request(path, asked("n=2"));
  EXPECT_TRUE(retire_request(path, asked("n=1")));
  EXPECT_THAT(read(path).open, ElementsAre(asked("n=2")));
  record_request(path, asked("n=1"));
  EXPECT_THAT(read(path).open, ElementsAre(asked("n=1"), asked("n=2")));
}

TEST(Requests, ManyProcessesShareAFileWithoutLosingOrMixingLines) {
  constexpr int kProcesses = 8;
  constexpr int kEach = 250;
  const test::ScratchFolder folder;
  const auto path = folder / "requests.jsonl";
  const std::string long_problem(600, 'x');
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool all = true;
      for (int i = 0; i < kEach; ++i) {
        all = record_request(path, asked(long_problem + std::to_string(i % 5))) && all;
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
  const RequestList list = read(path);
  EXPECT_THAT(list.bad, IsEmpty());
  ASSERT_EQ(list.open.size(), 5U);
  for (const Request& request : list.open) EXPECT_EQ(request.count, kProcesses * kEach / 5);
}

TEST(Requests, ALineThatCannotBeReadIsNamedAndTheOthersCount) {
  const std::string text =
      "{\"kernel\":\"scale\",\"problem\":\"n=1\",\"device\":\"d\",\"grade\":\"default\"}\n"
      "{\"kernel\":\"sca\n"
      "{\"kernel\":7}\n";
  const RequestList list = read_requests(text, "r.jsonl");
  EXPECT_EQ(list.open.size(), 1U);
  EXPECT_THAT(list.bad, ElementsAre(StartsWith("r.jsonl:2: this is no JSON from column "),
                                    "r.jsonl:3: key 'kernel' must be a text, not number"));
}

TEST(Requests, AnUnwritableFileIsNoFailureOfTheApplication) {
  EXPECT_FALSE(record_request("/proc/no/requests.jsonl", asked("n=1")));
}

TEST(Requests, TheEnvironmentSaysWhetherAndWhere) {
  ::unsetenv("KILN_RECORD_REQUESTS");
  EXPECT_FALSE(requested_path());
  ::setenv("KILN_RECORD_REQUESTS", "0", 1);
  EXPECT_FALSE(requested_path());
  ::setenv("KILN_RECORD_REQUESTS", "1", 1);
  EXPECT_EQ(requested_path(), default_requests_path());
  ::unsetenv("KILN_DB");
  ::unsetenv("XDG_DATA_HOME");
  ::setenv("HOME", "", 1);
  EXPECT_EQ(default_requests_path(), "");
  EXPECT_EQ(requested_path(), "") << "asked for, and there is no place";
  EXPECT_EQ(requests_trouble(""),
            "there is no place for requests: none of KILN_DB, XDG_DATA_HOME and HOME is set");
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(requested_path(), "/home/someone/.local/share/kiln/requests.jsonl");
  ::setenv("KILN_RECORD_REQUESTS", "/tmp/r.jsonl", 1);
  EXPECT_EQ(requested_path(), "/tmp/r.jsonl");
  ::unsetenv("KILN_RECORD_REQUESTS");
}

TEST(Requests, WhereNothingCanBeWrittenIsSaid) {
  const test::ScratchFolder folder;
  EXPECT_EQ(requests_trouble(folder / "not/yet/r.jsonl"), "");
  EXPECT_FALSE(std::filesystem::exists(folder / "not")) << "it only looks";
  EXPECT_EQ(requests_trouble(folder / "."),
            (folder / ".").string() + ": is a folder; expected a file");
  std::ofstream(folder / "r.jsonl") << "";
  EXPECT_EQ(requests_trouble(folder / "r.jsonl"), "");
  const std::string file = (folder / "r.jsonl").string();
  EXPECT_EQ(requests_trouble(file + "/below"),
            file + "/below: cannot be made, for " + file + " is no folder");
}

}  // namespace
}  // namespace kiln
