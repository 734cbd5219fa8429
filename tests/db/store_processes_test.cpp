// Two processes and one file: one writer at a time, and a killed one loses nothing that it
// reported.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "db/store.hpp"
#include "tests/db/scratch.hpp"
#include "tests/support/error_of.hpp"

namespace kiln {
namespace {

using test::ScratchFolder;
using test::some_session;
using test::some_trial;

/// db_writer as a child process: its lines can be read; it ends with this object at the latest.
class WriterProcess {
 public:
  WriterProcess(const std::filesystem::path& database, const char* mode) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe(in.data()) != 0 || ::pipe(out.data()) != 0) {
      throw std::runtime_error("no pipe");
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    for (const int end : {in[0], in[1], out[0], out[1]}) {
      ::posix_spawn_file_actions_addclose(&actions, end);
    }
    std::string program = KILN_DB_WRITER;
    std::string path = database.string();
    std::string word = mode;
    const std::array<char*, 4> arguments = {program.data(), path.data(), word.data(), nullptr};
    if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ) != 0) {
      throw std::runtime_error("cannot start " + program);
    }
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    output_ = ::fdopen(out[0], "r");
  }
  ~WriterProcess() {
    kill();
    ::close(input_);
    std::fclose(output_);
  }
  WriterProcess(const WriterProcess&) = delete;
  WriterProcess& operator=(const WriterProcess&) = delete;

  /// The next line without its end; empty at the end of the output.
  std::string read_line() {
    std::array<char, 256> text{};
    if (std::fgets(text.data(), text.size(), output_) == nullptr) {
      return "";
    }
    std::string line = text.data();
    line.pop_back();
    return line;
  }

  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

std::string error_of_writing(const std::filesystem::path& path) {
  return test::error_of<DatabaseError>([&] { const Store store(path, Store::Mode::write); },
                                       "no error");
}

TEST(StoreProcesses, ASecondWriterIsToldWhoTheFirstIs) {
  const ScratchFolder folder;
  const auto path = folder / "kiln.db";
  WriterProcess first(path, "hold");
  ASSERT_EQ(first.read_line(), "holding");

  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  EXPECT_EQ(error_of_writing(path), path.string() + ": is being written by process " +
                                        std::to_string(first.pid()) + " on " + host.data() +
                                        "; wait for it to end, or use another file with --db");
  EXPECT_EQ(Store(path, Store::Mode::read).sessions().size(), 0U);  // readers are welcome

  first.kill();
  EXPECT_EQ(error_of_writing(path), "no error");
}

TEST(StoreProcesses, ASecondWriterInTheSameProcessIsRefusedToo) {
  const ScratchFolder folder;
  const auto path = folder / "kiln.db";
  {
    const Store first(path, Store::Mode::write);
    EXPECT_THAT(error_of_writing(path),
                ::testing::HasSubstr("process " + std::to_string(::getpid()) + " on "));
  }
  EXPECT_EQ(error_of_writing(path), "no error");
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".writer"));
}

TEST(StoreProcesses, AKilledWriterLosesNothingItReported) {
  const ScratchFolder folder;
  const auto path = folder / "kiln.db";
  std::int64_t reported = 0;
  for (int round = 0; round < 3; ++round) {
    WriterProcess writer(path, "append");
    std::int64_t last = 0;
    while (last < 20) {
      last = std::stoll(writer.read_line());
    }
    writer.kill();
    for (std::string line = writer.read_line(); !line.empty(); line = writer.read_line()) {
      last = std::stoll(line);  // reported before the signal arrived
    }
    reported = last;

    Store store(path, Store::Mode::write);
    EXPECT_THAT(store.check(), ::testing::IsEmpty());
    const SessionRecord session = store.find_unfinished(some_session().key).value();
    const std::vector<TrialRecord> trials = store.trials(session.id);
    // One more may have been committed and not yet reported.
    EXPECT_GE(static_cast<std::int64_t>(trials.size()), reported);
    EXPECT_LE(static_cast<std::int64_t>(trials.size()), reported + 1);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      EXPECT_EQ(trials[i].sequence, static_cast<std::int64_t>(i) + 1);
      EXPECT_EQ(trials[i].trial.samples.ns.size(), 3U);
    }
    // The session goes on where it stopped.
    store.append(session.id, static_cast<std::int64_t>(trials.size()) + 1, some_trial(1000000));
    store.finish(session.id, SessionState::finished, 1, std::nullopt);
    EXPECT_THAT(store.check(), ::testing::IsEmpty());
  }
  EXPECT_EQ(Store(path, Store::Mode::read).sessions().size(), 3U);
}

}  // namespace
}  // namespace kiln
