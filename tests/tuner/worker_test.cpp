// Workers that misbehave before any kernel runs: compilers that crash and hang, programs that talk
// nonsense.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include "session_fixture.hpp"
#include "tuner/workers/messages.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/worker_host.hpp"
#include "tuner/workers/worker_process.hpp"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class WorkerTest : public SessionTest {
 protected:
  /// A worker program that is this one, but does `deed` in place of compiling.
  [[nodiscard]] std::filesystem::path program_whose_compiler(const std::string& deed) const {
    const std::filesystem::path path = folder_ / "worker";
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    std::ofstream(path) << "#!/bin/sh\nif [ \"$2\" = compile ]; then " << deed << "; fi\nexec '"
                        << self.string() << "' \"$@\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  /// The one trial of a session whose compile workers run `deed`.
  [[nodiscard]] Trial only_trial(const std::string& deed) {
    TuneRequest asked = request({"good"});
    asked.options.budget.trials = 1;
    asked.options.compile_deadline = std::chrono::seconds(1);
    asked.options.worker_program = program_whose_compiler(deed);
    Store store(database(), Store::Mode::write);
    SessionObserver silent;
    result_ = tune(asked, store, silent);
    return store.trials(result_.id).at(0).trial;
  }

  SessionResult result_;
};

// A process number says nothing where processes of other hosts or containers share the folder.
TEST_F(WorkerTest, AScratchFolderIsRemovedOnceNobodyHoldsItsLock) {
  const std::filesystem::path parent = folder_ / "tmp";
  const std::filesystem::path other = parent / "kiln-worker-999999999-AbCdEf";
  std::filesystem::create_directories(other);
  ASSERT_EQ(::setenv("TMPDIR", parent.c_str(), 1), 0);
  { const WorkerHost host; }
  EXPECT_TRUE(std::filesystem::exists(other)) << "it may be about to be locked";
  const int lock = ::open((other / "owner").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  {
    const WorkerHost host;
    const WorkerHost second;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(parent), {}), 3);
  }
  EXPECT_TRUE(std::filesystem::exists(other));
  ::close(lock);
  { const WorkerHost host; }
  EXPECT_TRUE(std::filesystem::is_empty(parent));
  ::unsetenv("TMPDIR");
}

TEST_F(WorkerTest, ACompilerThatHangsIsKilled) {
  const Trial trial = only_trial("sleep 1000");
  EXPECT_EQ(trial.outcome, Outcome::compile_timeout);
  EXPECT_EQ(trial.message, "the compiler did not finish within 1 s and was killed");
  EXPECT_FALSE(result_.best.has_value());
  EXPECT_EQ(result_.failures, 1);
}

TEST_F(WorkerTest, ACompilerThatCrashesIsQuoted) {
  const Trial trial = only_trial("echo 'internal compiler error: out of luck' >&2; kill -SEGV $$");
  EXPECT_EQ(trial.outcome, Outcome::compile_crash);
  EXPECT_EQ(trial.message,
            "the worker died: signal SIGSEGV; it printed: internal compiler error: out of luck");
}

TEST_F(WorkerTest, ACompilerThatTalksNonsenseIsDead) {
  const Trial trial = only_trial("printf 'this is certainly no frame' >&3; exec sleep 1000");
  EXPECT_EQ(trial.outcome, Outcome::compile_crash);
  EXPECT_THAT(trial.message, StartsWith("the worker died: signal SIGKILL"));
}

TEST_F(WorkerTest, ACompilerWhoseAnswerLacksItsFieldsIsDead) {
  const std::filesystem::path answer = folder_ / "answer";
  const std::vector<std::byte> wire = to_wire({R"({"type": "compiled"})", {}});
  std::ofstream(answer, std::ios::binary)
      .write(reinterpret_cast<const char*>(wire.data()), static_cast<std::streamsize>(wire.size()));
  const Trial trial = only_trial("cat '" + answer.string() + "' >&3; exec sleep 1000");
  EXPECT_EQ(trial.outcome, Outcome::compile_crash);
  EXPECT_THAT(trial.message, StartsWith("the worker died: signal SIGKILL"));
}

// A worker's socket is then number 0 or 1 of this process.
TEST_F(WorkerTest, DevicesAreListedWhereStdinAndStdoutAreClosed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto list = [] {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    for (const BackendDevices& backend : list_devices()) {
      if (backend.unavailable.find("the worker died") != std::string::npos) ::_exit(1);
    }
    ::_exit(0);
  };
  EXPECT_EXIT(list(), testing::ExitedWithCode(0), "");
}

TEST_F(WorkerTest, DevicesAreListedByShortLivedWorkers) {
  const std::vector<BackendDevices> backends = list_devices();
  ASSERT_FALSE(backends.empty());
  for (const BackendDevices& backend : backends) {
    EXPECT_NE(backend.devices.empty(), backend.unavailable.empty()) << backend.backend;
  }
}

TEST_F(WorkerTest, ABackendWhoseDriverCrashesIsUnavailable) {
  unsetenv("KILN_HIP_ROOT");  // its loader would start the worker, and takes no script
  const std::filesystem::path path = folder_ / "crashing";
  std::ofstream(path) << "#!/bin/sh\necho 'two LLVMs' >&2\nkill -ABRT $$\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  for (const BackendDevices& backend : list_devices(path)) {
    EXPECT_EQ(backend.unavailable, "the worker died: signal SIGABRT; it printed: two LLVMs");
  }
}

TEST_F(WorkerTest, OnlyTheLastLinesOfMuchOutputAreKept) {
  const std::filesystem::path path = folder_ / "chatty";
  std::ofstream(path) << "#!/bin/sh\nseq 1 20000\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  WorkerHost host(path);
  WorkerProcess worker(host.command({WorkerKind::list, "opencl", 0}));
  WorkerProcess* pointer = &worker;
  while (worker.alive()) poll_workers({&pointer, 1}, Clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(worker.obituary(),
            "the worker died: exit code 0; it printed: 19997\n19998\n19999\n20000");
}

TEST_F(WorkerTest, CompilersKeepTheirMemory) {
  if (std::getenv("GLIBC_TUNABLES") != nullptr) GTEST_SKIP() << "the user has chosen";
  WorkerHost host;
  const ChildCommand compiler = host.command({WorkerKind::compile, "cuda", 0});
  ASSERT_TRUE(compiler.environment.contains("GLIBC_TUNABLES"));
  EXPECT_THAT(compiler.environment.at("GLIBC_TUNABLES"), StartsWith("glibc.malloc.trim_threshold"));
  EXPECT_FALSE(
      host.command({WorkerKind::device, "cuda", 0}).environment.contains("GLIBC_TUNABLES"));
}

TEST(WorkerArguments, GoThereAndBack) {
  const WorkerOptions options{WorkerKind::device, "opencl", 3};
  std::vector<std::string> texts = to_arguments(options);
  std::vector<const char*> arguments = {"kiln"};
  for (const std::string& text : texts) arguments.push_back(text.c_str());
  const auto parsed = parse_worker_arguments(static_cast<int>(arguments.size()), arguments.data());
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->kind, WorkerKind::device);
  EXPECT_EQ(parsed->backend, "opencl");
  EXPECT_EQ(parsed->device, 3);
  const std::vector<const char*> other = {"kiln", "tune", "reduce"};
  EXPECT_FALSE(parse_worker_arguments(3, other.data()).has_value());
}

}  // namespace
}  // namespace kiln
