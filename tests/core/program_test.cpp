// Programs, files and hosts of others.
// SPDX-License-Identifier: Apache-2.0
#include "core/program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "core/scratch_folder.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::HasSubstr;

// Programs of others: what they get, what is kept of what they print, and how they end.

TEST(Program, TellsHowItEndedAndWhatItPrinted) {
  const Ended ended = run_shell("echo out; echo err >&2; pwd; exit 3", "/");
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(ended.out, "out\n/\n");
  EXPECT_EQ(ended.err, "err\n");
  EXPECT_EQ(ended.ending(), "exit code 3");
  EXPECT_THAT(run_shell("kill -9 $$", "/").ending(), HasSubstr("signal 9"));
  EXPECT_EQ(run_program({.words = {"/no/such/program"}, .folder = "/", .input = {}}).exit_code,
            127);
  EXPECT_EQ(run_shell("head -c 9000000 /dev/zero", "/").exit_code, 0) << "more than is kept";
}

TEST(Program, LastLines) {
  EXPECT_EQ(last_lines("a\nb\nc\n\n", 2), "b\nc");
  EXPECT_EQ(last_lines("a", 2), "a");
  EXPECT_EQ(last_lines("", 2), "");
}

TEST(Program, ReadsItsInputAndSeesNoOtherDescriptor) {
  const std::string input(300'000, 'x');
  const Ended ended = run_program({.words = {"cat"}, .folder = {}, .input = input});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, input);
  EXPECT_EQ(run_program({.words = {"true"}, .folder = {}, .input = input}).exit_code, 0);
  const int open_file = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GE(open_file, 3);
  EXPECT_EQ(run_shell("test ! -e /proc/self/fd/" + std::to_string(open_file), "/").exit_code, 0);
  ::close(open_file);
}

TEST(Program, WaitsForChildrenThatHoldItsOutput) {
  EXPECT_EQ(run_shell("(sleep 0.2; echo late) & echo early", "/").out, "early\nlate\n");
}

TEST(Program, IsKilledWithItsOwner) {
  const auto start = std::chrono::steady_clock::now();
  {
    StartedProgram program;
    ASSERT_EQ(program.start({.words = {"sleep", "100"}, .folder = {}, .input = {}}), 0);
    EXPECT_FALSE(program.has_ended(std::chrono::milliseconds(1)));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

// Files that somebody names: regular ones of a stated size, and a sentence at once for all others.

constexpr FileKind kKind = {"a plan file", 10};

std::string refusal(const fs::path& path) {
  try {
    return "read: " + read_input(path, kKind);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(InputFile, IsReadUpToItsLimit) {
  const ScratchFolder folder;
  const fs::path path = fs::path(folder.path()) / "plan";
  std::ofstream(path) << "0123456789";
  EXPECT_EQ(refusal(path), "read: 0123456789");
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_THAT(refusal(path),
              EndsWith("plan: holds more than 10 bytes, which is the most that is read; expected "
                       "a plan file"));
  fs::resize_file(path, std::uintmax_t{1} << 40);  // sparse: nothing of it is read
  EXPECT_THAT(refusal(path), HasSubstr("holds more than 10 bytes"));
}

TEST(InputFile, IsNothingThatHasNoEnd) {
  const ScratchFolder folder;
  const fs::path fifo = fs::path(folder.path()) / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal(fifo), EndsWith("is no regular file; expected a plan file"));
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is no regular file; expected a plan file");
  EXPECT_EQ(refusal("/proc/self/maps"),
            "/proc/self/maps: is made by the system while it is read; expected a plan file");
  EXPECT_THAT(refusal(folder.path()), EndsWith("is a folder; expected a plan file"));
  EXPECT_THAT(refusal("/nowhere"), HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace kiln
