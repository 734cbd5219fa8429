// Sessions that kiln_vs_peers starts.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/tuning.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace kiln::peers {
namespace {

namespace fs = std::filesystem;

class Tuning : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
    options_.database = "h100.db";
    options_.tune.seconds = 60;
    options_.tune.program = (folder_ / "kiln").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A program in kiln's place.
  void write_program(const std::string& script) {
    std::ofstream(options_.tune.program) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(options_.tune.program, fs::perms::owner_all);
  }
  [[nodiscard]] std::string error() const {
    try {
      tune(options_, "matmul", "m=3 n=4 k=5");
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
  Options options_;
};

TEST_F(Tuning, IsOneCommand) {
  options_.tune.arguments = {"--variant", "mma"};
  EXPECT_EQ(tune_command(options_, "matmul", "m=3 n=4 k=5"),
            (std::vector<std::string>{options_.tune.program, "tune", "matmul", "--problem",
                                      "m=3 n=4 k=5", "--device", "cuda:0", "--db", "h100.db",
                                      "--seconds", "60", "--variant", "mma"}));
}

TEST_F(Tuning, HandsTheWordsOnAndKeepsStdoutClean) {
  const std::string seen = (folder_ / "seen").string();
  write_program("echo session; printf '%s|' \"$@\" > " + seen);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(error(), "no error");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "session\n");
  std::ostringstream text;
  text << std::ifstream(seen).rdbuf();
  EXPECT_EQ(text.str(),
            "tune|matmul|--problem|m=3 n=4 k=5|--device|cuda:0|--db|h100.db|--seconds|60|");
}

TEST_F(Tuning, SaysHowASessionFailed) {
  EXPECT_EQ(error(),
            "'" + options_.tune.program + "' cannot be started: No such file or directory");
  write_program("exit 4");
  EXPECT_EQ(error(), "kiln tune ended with 4");
  write_program("kill -9 $$");
  EXPECT_EQ(error(), "kiln tune was ended by signal 9");
}

}  // namespace
}  // namespace kiln::peers
