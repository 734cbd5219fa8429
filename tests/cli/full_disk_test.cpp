// The program on a disk that is full or may not be written: a sentence, the exit code 5, and the
// trials of before. The disk is a small file system in memory, which only this test's processes
// see.
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

#include "kiln_program.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

class FullDisk : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    if (IsSkipped()) return;
    disk_ = folder_ / "disk";
    fs::create_directory(disk_);
    // A mount namespace of our own, whose mounts nobody else sees.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=1m") != 0) {
      GTEST_SKIP() << "this user may not mount a file system: " << std::strerror(errno);
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
  }

  /// Fills the disk up to the last byte.
  void fill() const {
    std::ofstream ballast(disk_ / "ballast", std::ios::binary);
    const std::string page(4096, 'x');
    while (ballast.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
  }
  void make_room() const { fs::remove(disk_ / "ballast"); }
  void grow() const {
    ASSERT_EQ(::mount("none", disk_.c_str(), nullptr, MS_REMOUNT, "size=64m"), 0);
    make_room();
  }

  [[nodiscard]] std::int64_t stored_trials() const {
    return kiln_json("db info disk/kiln.db --json")["trials"];
  }

  fs::path disk_;
  bool mounted_ = false;
};

Words on_disk(Words words) {
  for (std::string& word : words) {
    if (word == "kiln.db") word = "disk/kiln.db";
  }
  return words;
}

TEST_F(FullDisk, EndsASessionWithASentenceAndKeepsItsTrials) {
  const Words tune = on_disk(tune_scale("--trials 4 --seed 1"));
  ASSERT_EQ(kiln(tune).exit_code, 0);
  const std::int64_t before = stored_trials();
  fill();
  const Words again = on_disk(tune_scale("--trials 4 --seed 2 --patience 0"));
  const Output full = kiln(again);
  EXPECT_EQ(full.exit_code, 5) << full.err;
  EXPECT_THAT(full.err, HasSubstr("disk/kiln.db: the disk is full; what was stored before is kept; "
                                  "make room, then run the same command again"));
  EXPECT_EQ(stored_trials(), before);
  make_room();
  EXPECT_EQ(kiln(again).exit_code, 0);
  EXPECT_GT(stored_trials(), before);
  EXPECT_EQ(kiln("db check disk/kiln.db").exit_code, 0);
}

TEST_F(FullDisk, IsWaitedForInTheMiddleOfASession) {
  RunningKiln waiting(folder_, on_disk(tune_scale("--trials 8 --patience 600")), {});
  while (!waiting.has_ended() && (!fs::exists(disk_ / "kiln.db") || stored_trials() < 2))
    ::usleep(10'000);
  fill();
  while (!waiting.has_ended() &&
         waiting.error_text().find("the disk is full; waiting, 600 s at most") == std::string::npos)
    ::usleep(10'000);
  const std::int64_t before = stored_trials();
  grow();
  const Output done = waiting.output();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the session goes on"));
  EXPECT_GT(stored_trials(), before);
  EXPECT_EQ(kiln("db check disk/kiln.db").exit_code, 0);
}

// PoCL writes what it compiles; without room it would call every source faulty.
TEST_F(FullDisk, NoRoomForTemporaryFilesIsNoFaultOfAConfig) {
  fill();
  const Environment full = {{"TMPDIR", disk_.string()}};
  const Words once = tune_scale("--trials 4 --patience 0");
  const Output refused = kiln(once, full);
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("there is no room for temporary files in " + disk_.string() +
                                     "; what was measured is stored"));
  // With room again the command that waits goes on by itself.
  RunningKiln waiting(folder_, tune_scale("--trials 4 --patience 600"), full);
  while (!waiting.has_ended() && waiting.error_text().find("waiting, 600 s") == std::string::npos)
    ::usleep(10'000);
  grow();
  const Output done = waiting.output();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(kiln_json("db info kiln.db --json")["failures"], 0);
}

TEST_F(FullDisk, AReadOnlyDiskIsReadAndNotWritten) {
  ASSERT_EQ(kiln(on_disk(tune_scale("--trials 4"))).exit_code, 0);
  ASSERT_EQ(::mount("none", disk_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const Output refused = kiln(on_disk(tune_scale("--trials 9")));
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, HasSubstr("disk/kiln.db: cannot create the writer's lock"));
  EXPECT_THAT(refused.err, HasSubstr("Read-only file system"));
  EXPECT_GT(stored_trials(), 0);
}

}  // namespace
}  // namespace kiln::cli
