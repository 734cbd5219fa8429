// The C interface: statuses, texts, a launch, and handles that are null.
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/kiln.h>

#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"

namespace {

using kiln::test::LauncherFolder;
using kiln::test::OpenClApplication;
using ::testing::StartsWith;

kiln_argument memory_argument(const char* name, cl_mem memory, size_t bytes) {
  kiln_argument argument = {};
  argument.name = name;
  argument.kind = KILN_MEMORY;
  argument.memory = memory;
  argument.bytes = bytes;
  return argument;
}

class CInterface : public ::testing::Test {
 protected:
  void SetUp() override {
    kiln_options options = KILN_OPTIONS_INIT;
    options.backend = "opencl";
    options.use_native = 1;
    options.queue = application_.queue();
    options.database = database_.c_str();
    options.cache_folder = cache_.c_str();
    ASSERT_EQ(kiln_open(&options, &launcher_), KILN_OK) << kiln_last_error();
  }
  void TearDown() override { kiln_close(launcher_); }

  OpenClApplication& application_ = OpenClApplication::instance();
  LauncherFolder folder_;
  std::string database_ = folder_ / "kiln.db";
  std::string cache_ = folder_ / "cache";
  kiln_launcher* launcher_ = nullptr;
};

TEST_F(CInterface, SelectsPreparesAndLaunches) {
  EXPECT_EQ(kiln_abi_version(), KILN_ABI_VERSION);
  ASSERT_EQ(kiln_warning_count(launcher_), 1U);
  EXPECT_THAT(kiln_warning(launcher_, 0), StartsWith(database_ + ": there is no such database"));
  EXPECT_STREQ(kiln_warning(launcher_, 1), "");

  kiln_match match = {};
  match.size = sizeof match;
  ASSERT_EQ(kiln_select(launcher_, "reduce", "n=4 op=dot", &match), KILN_OK);
  EXPECT_EQ(match.grade, KILN_DEFAULT);
  EXPECT_STRNE(match.config, "");

  kiln_kernel* dot = nullptr;
  ASSERT_EQ(kiln_prepare(launcher_, "reduce", "n=4 op=dot", &dot), KILN_OK) << kiln_last_error();
  const cl_mem out = application_.allocate(4);
  const kiln_argument arguments[] = {
      memory_argument("in", application_.upload(std::vector<float>{1, 2, 3, 4}), 16),
      memory_argument("other", application_.upload(std::vector<float>{5, 6, 7, 8}), 16),
      memory_argument("out", out, 4)};
  ASSERT_EQ(kiln_launch(dot, application_.queue(), arguments, 3), KILN_OK) << kiln_last_error();
  EXPECT_EQ(application_.download<float>(out, 1)[0], 70);

  const cl_command_queue other = application_.make_queue();
  ASSERT_EQ(kiln_launch(dot, other, arguments, 3), KILN_OK) << kiln_last_error();
  ::clFinish(other);
  EXPECT_EQ(kiln_forget_queue(launcher_, other), KILN_OK) << kiln_last_error();
  ::clReleaseCommandQueue(other);
  EXPECT_EQ(kiln_forget_queue(launcher_, nullptr), KILN_BAD_ARGUMENT);
  EXPECT_EQ(kiln_forget_queue(nullptr, other), KILN_BAD_OPTION);

  EXPECT_EQ(kiln_launch(dot, nullptr, arguments, 2), KILN_BAD_ARGUMENT);
  EXPECT_STREQ(kiln_last_error(),
               "reduce: argument 'out' is missing (f32[1], 4 bytes); it takes in, other, out");
  kiln_kernel_release(dot);
}

TEST_F(CInterface, CountsCallsWhereAsked) {
  kiln_call_counts counts = {};
  counts.size = sizeof counts;
  counts.counting = 7;
  ASSERT_EQ(kiln_statistics(launcher_, &counts), KILN_OK) << kiln_last_error();
  EXPECT_EQ(counts.counting, 0) << "nobody asked";

  const std::string calls = folder_ / "calls.jsonl";
  kiln_options options = KILN_OPTIONS_INIT;
  options.backend = "opencl";
  options.database = database_.c_str();
  options.cache_folder = cache_.c_str();
  options.statistics = calls.c_str();
  kiln_launcher* launcher = nullptr;
  ASSERT_EQ(kiln_open(&options, &launcher), KILN_OK) << kiln_last_error();
  kiln_match match = {};
  match.size = sizeof match;
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(kiln_select(launcher, "reduce", "n=4 op=dot", &match), KILN_OK);
  ASSERT_EQ(kiln_statistics(launcher, &counts), KILN_OK) << kiln_last_error();
  EXPECT_EQ(counts.counting, 1);
  EXPECT_EQ(counts.selections[KILN_DEFAULT], 3U);
  EXPECT_EQ(counts.selections[KILN_EXACT], 0U);
  EXPECT_EQ(counts.launches[KILN_DEFAULT], 0U);
  kiln_close(launcher);
  EXPECT_EQ(kiln_statistics(nullptr, &counts), KILN_BAD_OPTION);
}

TEST_F(CInterface, NumbersOfUnsignedTypesAndUnknownKinds) {
  kiln_kernel* histogram = nullptr;
  ASSERT_EQ(kiln_prepare(launcher_, "histogram", "n=4 dtype=i32 bins=2", &histogram), KILN_OK)
      << kiln_last_error();
  kiln_argument low = {};
  low.name = "low";
  low.kind = KILN_UNSIGNED;
  low.integer = static_cast<int64_t>(UINT64_MAX);
  EXPECT_EQ(kiln_launch(histogram, nullptr, &low, 1), KILN_BAD_ARGUMENT);
  EXPECT_STREQ(kiln_last_error(),
               "histogram: argument 'low' is i32, which cannot hold 18446744073709551615");
  low.integer = 3;
  EXPECT_EQ(kiln_launch(histogram, nullptr, &low, 1), KILN_BAD_ARGUMENT);
  EXPECT_THAT(kiln_last_error(), StartsWith("histogram: argument 'in' is missing"));
  low.kind = 4;
  EXPECT_EQ(kiln_launch(histogram, nullptr, &low, 1), KILN_BAD_ARGUMENT);
  EXPECT_STREQ(kiln_last_error(),
               "kiln_launch: argument 'low' is of kind 4, expected KILN_MEMORY, KILN_INTEGER, "
               "KILN_FLOATING or KILN_UNSIGNED");
  kiln_kernel_release(histogram);
}

TEST_F(CInterface, ElementTypesAreGivenByName) {
  kiln_kernel* transpose = nullptr;
  ASSERT_EQ(kiln_prepare(launcher_, "transpose", "rows=4 cols=4", &transpose), KILN_OK)
      << kiln_last_error();
  kiln_argument in = memory_argument("in", application_.allocate(64), 64);
  in.dtype = "e4m3";
  EXPECT_EQ(kiln_launch(transpose, nullptr, &in, 1), KILN_BAD_ARGUMENT);
  EXPECT_STREQ(kiln_last_error(),
               "transpose: argument 'in' holds f32, a pointer to e4m3 was given");
  kiln_kernel_release(transpose);
}

TEST_F(CInterface, GivesStatusAndText) {
  kiln_kernel* kernel = nullptr;
  EXPECT_EQ(kiln_prepare(launcher_, "nothing", "n=4", &kernel), KILN_UNKNOWN_KERNEL);
  EXPECT_EQ(kernel, nullptr);
  EXPECT_EQ(kiln_prepare(launcher_, "reduce", "n=0", &kernel), KILN_BAD_PROBLEM);
  EXPECT_THAT(kiln_last_error(), StartsWith("reduce: "));
  EXPECT_EQ(kiln_prepare(launcher_, nullptr, "n=4", &kernel), KILN_BAD_OPTION);
  EXPECT_STREQ(kiln_last_error(), "kiln_prepare: no argument may be NULL");
  EXPECT_EQ(kiln_launch(nullptr, nullptr, nullptr, 0), KILN_BAD_OPTION);
  EXPECT_STREQ(kiln_last_error(), "kiln_launch: kernel and arguments may not be NULL");

  kiln_options options = {};
  kiln_launcher* launcher = nullptr;
  EXPECT_EQ(kiln_open(&options, &launcher), KILN_BAD_OPTION);
  EXPECT_STREQ(kiln_last_error(),
               "kiln_open: options.size is not sizeof(kiln_options); use KILN_OPTIONS_INIT");
  kiln_close(nullptr);
  kiln_kernel_release(nullptr);
}

TEST_F(CInterface, TakesTheOptionsOfAProgramBuiltBeforeTheNewerOnes) {
  kiln_options options = KILN_OPTIONS_INIT;
  options.size = offsetof(kiln_options, lock);
  options.backend = "opencl";
  options.database = database_.c_str();
  options.cache_folder = cache_.c_str();
  options.tune_on_miss = 77;  // behind what this program knows of: not looked at
  options.lock = "/nowhere";
  kiln_launcher* launcher = nullptr;
  ASSERT_EQ(kiln_open(&options, &launcher), KILN_OK) << kiln_last_error();
  EXPECT_EQ(kiln_warning_count(launcher), 1U) << "of the database, not of a lock";
  kiln_close(launcher);
}

TEST_F(CInterface, KeepsTheShippedRowsBesideADatabaseUnlessToldNot) {
  if (const std::string missing = kiln::test::missing_for_cuda_stub(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  for (const int32_t no_shipped : {0, 1}) {
    kiln_options options = KILN_OPTIONS_INIT;
    options.backend = "cuda";
    options.database = database_.c_str();
    options.cache_folder = cache_.c_str();
    options.no_shipped = no_shipped;
    kiln_launcher* launcher = nullptr;
    ASSERT_EQ(kiln_open(&options, &launcher), KILN_OK) << kiln_last_error();
    kiln_match match = {};
    match.size = sizeof match;
    ASSERT_EQ(kiln_select(launcher, "matmul", "m=4096 n=4096 k=4096", &match), KILN_OK);
    EXPECT_EQ(match.grade == KILN_DEFAULT, no_shipped == 1) << match.reason;
    kiln_close(launcher);
  }
}

TEST_F(CInterface, TakesTheOptionsOfAProgramBuiltBeforeShippedRowsCouldBeLeftOut) {
  kiln_options options = KILN_OPTIONS_INIT;
  options.size = offsetof(kiln_options, no_shipped);
  options.backend = "opencl";
  options.database = database_.c_str();
  options.cache_folder = cache_.c_str();
  options.lock = "/nowhere";  // what this program knows of is looked at
  kiln_launcher* launcher = nullptr;
  ASSERT_EQ(kiln_open(&options, &launcher), KILN_OK) << kiln_last_error();
  EXPECT_THAT(kiln_warning(launcher, 0), StartsWith("/nowhere: there is no such lock"));
  kiln_close(launcher);
}

TEST_F(CInterface, LocksRecordsAndTunes) {
  const std::string lock = folder_ / "none.lock";
  const std::string calls = folder_ / "calls.jsonl";
  kiln_options options = KILN_OPTIONS_INIT;
  options.backend = "opencl";
  options.database = database_.c_str();
  options.cache_folder = cache_.c_str();
  options.lock = lock.c_str();
  options.statistics = calls.c_str();
  options.tune_on_miss = KILN_TUNE_FIRST_USE;
  options.tuner = "/bin/false";
  kiln_launcher* launcher = nullptr;
  ASSERT_EQ(kiln_open(&options, &launcher), KILN_OK) << kiln_last_error();
  ASSERT_EQ(kiln_warning_count(launcher), 2U);
  EXPECT_THAT(kiln_warning(launcher, 0), StartsWith(lock + ": there is no such lock"));

  kiln_match match = {};
  match.size = sizeof match;
  ASSERT_EQ(kiln_select(launcher, "reduce", "n=4", &match), KILN_OK) << kiln_last_error();
  EXPECT_TRUE(std::filesystem::exists(calls));
  ASSERT_EQ(kiln_wait_for_tuning(launcher, 60), KILN_OK);
  kiln_tuning_state state = {};
  EXPECT_EQ(kiln_tuning(launcher, &state), KILN_BAD_OPTION);
  state.size = sizeof state;
  ASSERT_EQ(kiln_tuning(launcher, &state), KILN_OK) << kiln_last_error();
  EXPECT_EQ(state.waiting, 0U);
  EXPECT_EQ(state.failed, 1U);
  ASSERT_EQ(state.warnings, 1U);
  char text[16] = {};
  ASSERT_EQ(kiln_tuning_warning(launcher, 0, text, sizeof text), KILN_OK);
  EXPECT_STREQ(text, "reduce n=4 resu");
  EXPECT_EQ(kiln_tuning_warning(launcher, 1, text, sizeof text), KILN_BAD_OPTION);
  kiln_close(launcher);

  options.tune_on_miss = 3;
  EXPECT_EQ(kiln_open(&options, &launcher), KILN_BAD_OPTION);
  EXPECT_STREQ(kiln_last_error(), "kiln_open: options.tune_on_miss is none of KILN_TUNE_...");
}

TEST_F(CInterface, ToldOfWorkspaces) {
  kiln_kernel* kernel = nullptr;
  ASSERT_EQ(kiln_prepare(launcher_, "reduce", "n=100000", &kernel), KILN_OK) << kiln_last_error();
  const size_t count = kiln_workspace_count(kernel);
  kiln_workspace_info info = {};
  EXPECT_EQ(kiln_workspace(kernel, 0, &info), KILN_BAD_OPTION);
  info.size = sizeof info;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(kiln_workspace(kernel, i, &info), KILN_OK) << kiln_last_error();
    EXPECT_GT(info.bytes, 0U);
    EXPECT_STRNE(info.name, "");
  }
  EXPECT_EQ(kiln_workspace(kernel, count, &info), KILN_BAD_OPTION);
  EXPECT_STREQ(kiln_last_error(), "kiln_workspace: the kernel has no workspace of that index");
  kiln_kernel_release(kernel);
  EXPECT_EQ(kiln_workspace_count(nullptr), 0U);
}

}  // namespace
