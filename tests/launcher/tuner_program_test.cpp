// Running the tuner: how it ends, what it says, and that nothing of the application gets into it.
// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/tuner_program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launcher/opencl_application.hpp"

namespace kiln {
namespace {

using How = TunerEnd::How;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace kiln
