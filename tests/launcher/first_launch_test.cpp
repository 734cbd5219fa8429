// A machine without a compiler: what is in the cache runs, what is not says why it cannot.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/launcher/command_output.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"

namespace kiln {
namespace {

using test::LauncherFolder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What an application prints that was started with `environment` in front.
std::string first_launch(const std::string& environment, const LauncherFolder& folder,
                         const std::string& kernel, const std::string& problem,
                         const std::string& backend = "") {
  const std::string command = environment + " '" KILN_FIRST_LAUNCH "' '" + (folder / "none.db") +
                              "' '" + (folder / "cache") + "' " + kernel + " '" + problem + "' " +
                              backend;
  return test::command_output(command);
}

constexpr const char* kNoCompiler = "KILN_NVRTC_PATH=/nowhere/libnvrtc.so";

TEST(FirstLaunch, AWarmCacheNeedsNoCompiler) {
  if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const LauncherFolder folder;
  EXPECT_THAT(first_launch("", folder, "transpose", "rows=64 cols=64"),
              StartsWith("compiled near_size stale "));
  EXPECT_THAT(first_launch("", folder, "transpose", "rows=64 cols=64"),
              StartsWith("cache near_size stale "));
  EXPECT_THAT(first_launch(kNoCompiler, folder, "transpose", "rows=64 cols=64"),
              StartsWith("cache near_size stale "));
  EXPECT_THAT(first_launch(kNoCompiler, folder, "transpose", "rows=64 cols=64 dtype=f64"),
              HasSubstr("unavailable"));
}

TEST(FirstLaunch, AForkedChildDoesNotCountItsParentsCallsAgain) {
  if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const LauncherFolder folder;
  const std::string calls = folder / "calls.jsonl";
  (void)first_launch("FIRST_LAUNCH_FORKS=1 KILN_STATISTICS='" + calls + "'", folder, "transpose",
                     "rows=64 cols=64");
  EXPECT_EQ(test::command_output("grep -c '\"launches\":1' '" + calls + "'"), "1\n");
  EXPECT_EQ(test::command_output("grep -c transpose '" + calls + "'"), "2\n")
      << "that it is not exact was written at once";
}

// The host code of a HIP stream, over HIP on the CPU.
TEST(FirstLaunch, RunsOnAHipStreamOfTheApplication) {
  const LauncherFolder folder;
  constexpr const char* kHip = "KILN_HIP_LIBRARY='" KILN_HIP_ON_CPU "' KILN_HIP_ON_CPU=gfx1100";
  EXPECT_THAT(first_launch(kHip, folder, "reduce", "n=100000", "hip"),
              StartsWith("compiled default "));
  EXPECT_THAT(first_launch(kHip, folder, "reduce", "n=100000", "hip"),
              StartsWith("cache default "));
}

}  // namespace
}  // namespace kiln
