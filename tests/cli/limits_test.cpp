// The program at limits of the system: one sentence, an exit code that says whose trouble it is,
// and nothing left half done.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::Not;

using Limits = TuningTest;

Environment refusing(const std::string& what, Environment more = {}) {
  more.emplace_back("LD_PRELOAD", KILN_FAILING_CALLS);
  more.emplace_back("KILN_FAIL", what);
  return more;
}

TEST_F(Limits, AFileSystemWithoutLocksIsNotABusyDatabase) {
  const Output refused = kiln(tune_scale("--trials 2"), refusing("flock:0"));
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("kiln.db.writer cannot be taken: No locks available; name a "
                                     "file on another file system with --db"));
}

TEST_F(Limits, ASweepWhoseSecondThreadIsRefusedEndsInOrder) {
  write("two.plan.toml", "name = \"two\"\n[defaults]\ntrials = 3\n[[kernels]]\nkernel = \"" +
                             std::string(KILN_SOURCE_DIR "/tests/cli/kernels/scale") +
                             "\"\nproblems = [\"n=100\", \"n=101\"]\n");
  const Output refused = kiln("sweep two.plan.toml --db kiln.db --device opencl:0,opencl:1",
                              refusing("thread:2", {{"POCL_DEVICES", "pthread basic"}}));
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("the system starts no further thread"));
  for (const char* left : {"kiln.db-wal", "kiln.db.writer"})
    EXPECT_FALSE(fs::exists(folder_ / left)) << left;
}

TEST_F(Limits, WithoutALinkerNoConfigIsBlamed) {
  const Output refused = kiln(tune_scale("--trials 1"), {{"PATH", "/nowhere"}});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("needs the linker 'ld', and no folder of PATH has it (PATH is "
                                     "'/nowhere'): install binutils or mend PATH"));
  EXPECT_THAT(refused.out, Not(HasSubstr("device_fault")));
}

TEST_F(Limits, WithLittleAddressSpaceNoConfigIsBlamed) {
  for (const int mebibytes : {300, 976}) {
    const std::string command =
        fmt::format("cd '{}' && ulimit -v {} && HOME=. '" KILN_PROGRAM "' tune '" KILN_SOURCE_DIR
                    "/tests/cli/kernels/scale' --problem n=100 --trials 1 --device opencl:0 --db "
                    "kiln.db > out 2> err",
                    folder_.string(), mebibytes * 1024);
    EXPECT_NE(std::system(command.c_str()), 0);
    EXPECT_THAT(read_text(folder_ / "err"),
                HasSubstr(fmt::format("limits memory to {} MiB (`ulimit -v`)", mebibytes)));
  }
}

TEST_F(Limits, ADatabaseThatIsRemovedOrReplacedEndsTheSessionAtOnce) {
  for (const char* deed : {"removed", "replaced"}) {
    for (const char* suffix : {"", "-wal", "-shm", ".writer"})
      fs::remove((folder_ / "kiln.db").string() + suffix);
    RunningKiln running(folder_, tune_scale("--seconds 600 --strategy random"));
    while (!running.has_ended() && !fs::exists(folder_ / "kiln.db-wal")) ::usleep(10'000);
    ::usleep(300'000);
    if (deed == std::string("replaced")) {
      write("other.db", "");
      fs::rename(folder_ / "other.db", folder_ / "kiln.db");
    } else {
      fs::remove(folder_ / "kiln.db");
    }
    const Output ended = running.output();
    EXPECT_EQ(ended.exit_code, 5) << deed << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("kiln.db: was removed, or replaced by another file")) << deed;
    EXPECT_EQ(ended.out, "") << deed;
  }
}

TEST_F(Limits, ALockOfAnotherProgramIsWaitedFor) {
  ASSERT_EQ(kiln(tune_scale("--trials 2")).exit_code, 0);
  std::optional<SQLite::Database> other;
  other.emplace((folder_ / "kiln.db").string(), SQLite::OPEN_READWRITE);
  other->exec("BEGIN IMMEDIATE");
  RunningKiln running(folder_, tune_scale("--trials 3 --patience 600"));
  while (!running.has_ended() && running.error_text().find("waiting, 600 s") == std::string::npos)
    ::usleep(20'000);
  other->exec("ROLLBACK");
  other.reset();
  const Output done = running.output();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("is locked by another program; waiting"));
  EXPECT_EQ(kiln_json("db info kiln.db --json")["trials"], 3);
}

TEST_F(Limits, ASizeLimitOfFilesIsASentenceAndNoSignal) {
  const std::string line = "cd '" + folder_.string() +
                           "' && ulimit -f 64 && HOME=. '" KILN_PROGRAM "' tune '" KILN_SOURCE_DIR
                           "/tests/cli/kernels/scale' --problem n=100 --trials 2 --device opencl "
                           "--patience 0 --db small.db 2> err; echo $? > code";
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(read_text(folder_ / "code"), "5\n") << read_text(folder_ / "err");
  EXPECT_THAT(read_text(folder_ / "err"), HasSubstr("`ulimit -f`"));
}

}  // namespace
}  // namespace kiln::cli
