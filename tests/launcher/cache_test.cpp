// Caches of a program, and the tuner that it starts.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>
#include <kiln/problem_text.hpp>

#include "launcher/src/tuner_program.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using How = TunerEnd::How;
using std::chrono::milliseconds;
using test::LauncherFolder;
using test::OpenClApplication;
using ::testing::HasSubstr;

// The second process compiles nothing; a damaged cache costs a compile, never a wrong result.

struct TransposeRun {
  bool from_cache = false;
  std::vector<float> result;
};

TransposeRun transpose_with(const Launcher& launcher) {
  OpenClApplication& application = OpenClApplication::instance();
  const Launcher::Kernel kernel = launcher.prepare("transpose", "rows=2 cols=3").value();
  const cl_mem in = application.upload(std::vector<float>{1, 2, 3, 4, 5, 6});
  const cl_mem out = application.allocate(24);
  kernel.launch(nullptr, {memory("in", in, 24), memory("out", out, 24)}).value();
  return {kernel.from_cache(), application.download<float>(out, 6)};
}

const std::vector<float> kTransposed = {1, 4, 2, 5, 3, 6};

TEST(LauncherCache, TheSecondLauncherCompilesNothing) {
  const LauncherFolder folder;
  const TransposeRun first = transpose_with(Launcher(folder.options()));
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(first.result, kTransposed);
  const TransposeRun second = transpose_with(Launcher(folder.options()));
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.result, kTransposed);
}

TEST(LauncherCache, SizesThatShareAConfigShareTheBinary) {
  const LauncherFolder folder;
  const Launcher launcher(folder.options());
  static_cast<void>(transpose_with(launcher));
  static_cast<void>(launcher.prepare("transpose", "rows=200 cols=300").value());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "cache"), fs::directory_iterator()), 1);
}

TEST(LauncherCache, DamagedEntriesAreCompiledAnewAndMended) {
  const LauncherFolder folder;
  static_cast<void>(transpose_with(Launcher(folder.options())));
  for (const auto& entry : fs::directory_iterator(folder / "cache")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.write("damage", 6);
  }
  const TransposeRun damaged = transpose_with(Launcher(folder.options()));
  EXPECT_FALSE(damaged.from_cache);
  EXPECT_EQ(damaged.result, kTransposed);
  EXPECT_TRUE(transpose_with(Launcher(folder.options())).from_cache);
}

TEST(LauncherCache, ALimitThatIsNoSizeIsAWarning) {
  const LauncherFolder folder;
  ::setenv("KILN_CACHE_LIMIT", "5 GiB", 1);
  const Launcher launcher(folder.options());
  Launcher::Options named = folder.options();
  named.cache_bytes = 1000000;  // the environment is not asked
  const Launcher other(named);
  ::unsetenv("KILN_CACHE_LIMIT");
  ASSERT_EQ(launcher.warnings().size(), 2U);  // the database is missing as well
  EXPECT_EQ(launcher.warnings()[1].kind, Launcher::Warning::Kind::cache_limit_unusable);
  EXPECT_EQ(launcher.warnings()[1].message,
            "KILN_CACHE_LIMIT is '5 GiB', which is no size of a cache: expected bytes, or a number "
            "with K, M or G, such as 512M; the cache keeps to 1 GiB");
  EXPECT_EQ(transpose_with(launcher).result, kTransposed);
  EXPECT_EQ(other.warnings().size(), 1U);
}

TEST(LauncherCache, AFolderThatOthersMayWriteToIsAWarning) {
  const LauncherFolder folder;
  fs::create_directory(folder / "cache");
  fs::permissions(folder / "cache", fs::perms::all);
  const Launcher launcher(folder.options());
  ASSERT_EQ(launcher.warnings().size(), 2U);  // the database is missing as well
  EXPECT_EQ(launcher.warnings()[1].kind, Launcher::Warning::Kind::cache_unusable);
  EXPECT_EQ(launcher.warnings()[1].message,
            (folder / "cache") +
                ": other users may write to it (chmod 700 mends that); kernels are "
                "compiled in every process");
  EXPECT_EQ(transpose_with(launcher).result, kTransposed);
}

TEST(LauncherCache, CanBeTurnedOff) {
  const LauncherFolder folder;
  Launcher::Options options = folder.options();
  options.use_cache = false;
  EXPECT_FALSE(transpose_with(Launcher(options)).from_cache);
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

// Running the tuner: how it ends, what it says, and that nothing of the application gets into it.

constexpr milliseconds kLong{60'000};

TunerEnd run_shell(const std::string& script, milliseconds limit = kLong) {
  return run_tuner("/bin/sh", {"-c", script}, limit, [] { return false; });
}

TEST(TunerProgram, TellsHowItEndedAndWhatItSaid) {
  const TunerEnd end = run_shell("echo nobody hears this; echo first >&2; echo last >&2; exit 3");
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.said, "first\nlast\n");
  EXPECT_EQ(run_shell("kill -SEGV $$").exit_code, 128 + SIGSEGV);
}

TEST(TunerProgram, KeepsTheEndOfALongSpeech) {
  const TunerEnd end =
      run_shell("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done");
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_LE(end.said.size(), 4096U);
  EXPECT_THAT(end.said, HasSubstr("line 1999\n"));
}

TEST(TunerProgram, OneThatHangsIsKilled) {
  const TunerEnd end = run_shell("trap '' TERM; while true; do sleep 0.1; done", milliseconds(200));
  EXPECT_EQ(end.how, How::too_late);
  EXPECT_EQ(end.exit_code, 128 + SIGKILL);
}

TEST(TunerProgram, EndsWhenTheCallerWants) {
  int asked = 0;
  const TunerEnd end = run_tuner("/bin/sleep", {"1000"}, kLong, [&asked] { return ++asked > 3; });
  EXPECT_EQ(end.how, How::stopped);
  EXPECT_EQ(end.exit_code, 128 + SIGTERM);
}

TEST(TunerProgram, OneThatIsNotThereIsAnAnswer) {
  const TunerEnd end = run_tuner("/nowhere/kiln", {}, kLong, [] { return false; });
  EXPECT_EQ(end.how, How::not_started);
  EXPECT_EQ(end.said, "/nowhere/kiln: No such file or directory");
}

TEST(TunerProgram, InheritsNoOpenFileAndNoMaskedSignal) {
  const int open_file = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GE(open_file, 3);
  EXPECT_EQ(run_shell("test ! -e /proc/self/fd/" + std::to_string(open_file)).exit_code, 0);
  ::close(open_file);
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
  EXPECT_EQ(run_shell("kill -TERM $$; sleep 5; exit 0").exit_code, 128 + SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
}

TEST(TunerProgram, AnApplicationThatReapsItsChildrenItselfIsNoTrouble) {
  auto* before = ::signal(SIGCHLD, SIG_IGN);
  const TunerEnd end = run_shell("exit 3");
  ::signal(SIGCHLD, before);
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.exit_code, -1);
}

TEST(TunerProgram, IsFoundByPathOrName) {
  EXPECT_EQ(find_tuner("/bin/sh").path, "/bin/sh");
  EXPECT_EQ(find_tuner("/nowhere/kiln").missing, "/nowhere/kiln is no program");
  EXPECT_EQ(find_tuner("sh").missing, "");
  EXPECT_EQ(find_tuner("no-such-kiln").missing, "there is no program 'no-such-kiln' in $PATH");
}

// Many threads over one launcher: selections and launches of 50 problems, each checked.
//
// The CUDA path runs on a driver without a GPU (tests/support/cuda_stub.cpp), so that every line
// that ThreadSanitizer watches is Kiln's. KILN_SOAK=1: a million selections and launches a thread.

constexpr int kSoakThreads = 16;
constexpr int kProblems = 50;

int rounds() { return std::getenv("KILN_SOAK") != nullptr ? 1'000'000 : 4'000; }

TEST(Soak, SixteenThreadsSelectAndLaunchFiftyProblems) {
  if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const test::LauncherFolder folder;
  Launcher::Options options = Launcher::Options::on_device("cuda");
  options.databases = {folder / "none.db"};
  options.cache_folder = folder / "cache";
  const Launcher launcher(options);
  std::vector<std::string> failures(kSoakThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kSoakThreads; ++t) {
    threads.emplace_back([&, t] {
      // Half of the threads share a queue; memory is never touched by the stub.
      char queue = 0;
      void* stream = t % 2 == 0 ? &queue : nullptr;
      char memory_of_all[64];
      for (int round = 0; round < rounds(); ++round) {
        const int n = 1000 + (round + t) % kProblems;
        ProblemText problem;
        problem.add("n", n);
        const Expected<Launcher::MatchHandle> match = launcher.select("reduce", problem);
        const Expected<Launcher::Kernel> kernel = launcher.prepare("reduce", problem);
        if (!match || !kernel || kernel->match().config != (*match)->config) {
          failures[static_cast<std::size_t>(t)] = "another config was launched than selected";
          return;
        }
        const Expected<void> done =
            kernel->launch(stream, {memory("in", memory_of_all, static_cast<std::size_t>(n) * 4),
                                    memory("out", memory_of_all, 4)});
        if (!done) {
          failures[static_cast<std::size_t>(t)] = done.error().message;
          return;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  // One step each at least, and nothing waited.
  EXPECT_GE(test::cuda_stub_launches(),
            static_cast<std::uint64_t>(kSoakThreads) * static_cast<std::uint64_t>(rounds()));
  EXPECT_EQ(test::cuda_stub_waits(), 0U);
}

}  // namespace
}  // namespace kiln
