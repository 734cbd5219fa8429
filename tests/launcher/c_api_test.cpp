// The C interface: statuses, texts, a launch, and handles that are null.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/kiln.h>

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

  EXPECT_EQ(kiln_launch(dot, nullptr, arguments, 2), KILN_BAD_ARGUMENT);
  EXPECT_STREQ(kiln_last_error(),
               "reduce: argument 'out' is missing (f32[1], 4 bytes); it takes in, other, out");
  kiln_kernel_release(dot);
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

}  // namespace
