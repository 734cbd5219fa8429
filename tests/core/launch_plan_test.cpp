// Launch plans: every expression evaluated, every limit of the device held.
// SPDX-License-Identifier: Apache-2.0
#include "core/launch_plan.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/setting.hpp"
#include "spec/parse_spec.hpp"
#include "tests/core/example_spec.hpp"

namespace kiln {
namespace {

using test::example_spec;
using test::with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LaunchPlanTest : public ::testing::Test {
 protected:
  Result<LaunchPlan> plan(std::string_view config,
                          std::string_view problem = "rows=1000,cols=100") {
    const Problem parsed = Problem::parse(spec_, problem);
    return Setting(spec_, parsed, device_).plan(Setting(spec_, parsed, device_).parse(config));
  }

  std::string why_not(std::string_view config, std::string_view problem = "rows=1000,cols=100") {
    const Result<LaunchPlan> result = plan(config, problem);
    if (result) return "";
    EXPECT_EQ(result.failure().outcome, Outcome::constraint);
    return result.failure().message;
  }

  void use(const std::string& text) { spec_ = parse_spec(text, "spec.toml"); }

  KernelSpec spec_ = example_spec();
  DeviceInfo device_ = device_for_architecture("cuda", "sm_80");
};

TEST_F(LaunchPlanTest, EvaluatesBuffersScalarsAndSteps) {
  const Result<LaunchPlan> result = plan("tile");
  ASSERT_TRUE(result) << result.failure().message;
  const BufferPlan& out = *result->find_buffer("out");
  EXPECT_THAT(out.shape, ElementsAre(100, 1000));
  EXPECT_EQ(out.count, 100000);
  EXPECT_EQ(out.bytes(), 400000);
  EXPECT_EQ(out.access, Access::write);
  const BufferPlan& flags = *result->find_buffer("flags");
  EXPECT_TRUE(flags.workspace);
  EXPECT_EQ(flags.count, 32);
  EXPECT_EQ(flags.dtype, DType::u32);
  EXPECT_EQ(result->find_scalar("row_count")->value, Value(std::int64_t{1000}));
  EXPECT_FALSE(result->find_scalar("row_count")->from_caller);
  EXPECT_EQ(result->find_scalar("alpha")->value, Value(1.0));
  EXPECT_TRUE(result->find_scalar("alpha")->from_caller);
  ASSERT_EQ(result->steps.size(), 2u);
  EXPECT_EQ(result->steps[0].buffer, "flags");
  EXPECT_THAT(result->steps[1].grid, ElementsAre(4, 32, 1));
  EXPECT_THAT(result->steps[1].block, ElementsAre(32, 8, 1));
  EXPECT_EQ(result->steps[1].shared_bytes, 32u * 33 * 4);
}

TEST_F(LaunchPlanTest, LeavesOutArgumentsThatDoNotExistForTheProblem) {
  EXPECT_THAT(plan("tile")->steps[1].arguments,
              ElementsAre("in", "out", "flags", "row_count", "alpha"));
  const Result<LaunchPlan> with_mask = plan("tile", "rows=1000,cols=100,order=column");
  EXPECT_THAT(with_mask->steps[1].arguments,
              ElementsAre("in", "out", "mask", "flags", "row_count", "alpha"));
  EXPECT_EQ(with_mask->find_buffer("mask")->count, 1000);
}

TEST_F(LaunchPlanTest, ChecksTheConfigFirst) {
  EXPECT_THAT(why_not("tile:tile_rows=128,tile_cols=128"),
              HasSubstr("the tile must fit in shared memory"));
}

TEST_F(LaunchPlanTest, HoldsTheBlockAgainstTheDevice) {
  use(with("\"tile_cols\", 8", "\"tile_cols\", 64"));
  EXPECT_EQ(why_not("tile"),
            "step 'transpose_tile': a block of 32 x 64 x 1 threads exceeds the "
            "device's limit of 1024");
  use(with("\"tile_cols\", 8", "1, 1, 65"));
  EXPECT_EQ(why_not("tile"),
            "step 'transpose_tile': block dimension z must be from 1 to 64 on this "
            "device (65 = 65)");
}

TEST_F(LaunchPlanTest, HoldsTheGridAgainstTheDevice) {
  EXPECT_EQ(
      why_not("naive", "rows=100000,cols=1"),
      "step 'transpose_naive': grid dimension y must be from 1 to 65535 on this device (rows = "
      "100000)");
  use(with("\"rows\"]\nblock = [\"block_x\"]", "\"rows - 1\"]\nblock = [\"block_x\"]"));
  EXPECT_THAT(why_not("naive", "rows=1,cols=1"), HasSubstr("(rows - 1 = 0)"));
}

// 2^27 blocks of 32 threads are 2^32, one more than HIP takes.
TEST_F(LaunchPlanTest, HoldsTheThreadsOfADimensionAgainstTheDevice) {
  use(with("grid = [\"ceil_div(cols, block_x)\", \"rows\"]\nblock = [\"block_x\"]",
           "grid = [\"rows\", \"cols\"]\nblock = [\"block_x\"]"));
  EXPECT_EQ(why_not("naive", "rows=134217728,cols=1"), "") << "CUDA counts blocks";
  device_ = device_for_architecture("hip", "gfx90a");
  EXPECT_EQ(why_not("naive", "rows=134217727,cols=1"), "");
  EXPECT_EQ(why_not("naive", "rows=134217728,cols=1"),
            "step 'transpose_naive': 134217728 blocks of 32 threads in dimension x are 4294967296 "
            "threads, and this device takes at most 4294967295");
}

TEST_F(LaunchPlanTest, TheDefaultConfigIsOneThatTheDeviceCanLaunch) {
  const auto usual = [&](const std::string& problem) {
    return Setting(spec_, Problem::parse(spec_, problem), device_).default_config().variant;
  };
  EXPECT_EQ(usual("rows=1000,cols=100"), "tile");
  use(with("block = [\"tile_cols\", 8]", "block = [\"tile_cols\", 64]"));
  EXPECT_EQ(usual("rows=1000,cols=100"), "naive") << "2048 threads are too many";
  EXPECT_EQ(usual("rows=100000,cols=100"), "tile") << "so many rows are too many for naive, too";
}

TEST_F(LaunchPlanTest, HoldsSharedMemoryAgainstTheOptInLimit) {
  use(with("shared_bytes = \"tile_bytes\"", "shared_bytes = \"tile_bytes * 100\""));
  EXPECT_EQ(why_not("tile"),
            "step 'transpose_tile': 422400 bytes of dynamic shared memory are not "
            "from 0 to the device's limit of 166912");
}

TEST_F(LaunchPlanTest, RefusesSizesThatOverflow) {
  use(with("\"rows * cols * bytes_per_element\"", "1"));
  EXPECT_EQ(why_not("naive", "rows=9e18,cols=1,dtype=f64"),
            "'in' is too large: its size in bytes exceeds 2^63");
  EXPECT_EQ(why_not("naive", "rows=3Gi,cols=1,dtype=u8"),
            "scalar 'row_count' = 3221225472 does not fit in i32");
  use(with("dtype = \"i32\"", "dtype = \"i8\""));
  EXPECT_EQ(why_not("naive", "rows=128,cols=1"), "scalar 'row_count' = 128 does not fit in i8");
  EXPECT_EQ(why_not("naive", "rows=127,cols=1"), "");
}

TEST_F(LaunchPlanTest, RefusesNegativeCounts) {
  use(with("count = \"ceil_div(rows, tile_rows)\"", "count = \"10 - rows\""));
  EXPECT_EQ(why_not("tile"), "'flags' would hold a negative number of elements (10 - rows = -990)");
}

TEST_F(LaunchPlanTest, SkipsStepsThatDoNotApply) {
  use(with("clear = \"flags\"", "clear = \"flags\"\nwhen = \"rows > 5000\""));
  EXPECT_EQ(plan("tile")->steps.size(), 1u);
  EXPECT_EQ(plan("tile", "rows=6000,cols=100")->steps.size(), 2u);
}

TEST_F(LaunchPlanTest, AllowsClustersOnHopperOnly) {
  use(with("block = [\"tile_cols\", 8]", "block = [\"tile_cols\", 8]\ncluster = [2]"));
  EXPECT_EQ(why_not("tile"),
            "step 'transpose_tile': clusters need CUDA with compute capability 9.0");
  device_ = device_for_architecture("cuda", "sm_90a");
  const Result<LaunchPlan> result = plan("tile");
  ASSERT_TRUE(result) << result.failure().message;
  EXPECT_THAT(result->steps[1].cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(why_not("tile", "rows=1000,cols=96"),
            "step 'transpose_tile': grid dimension x (3) is no multiple of the cluster's (2)");
}

TEST_F(LaunchPlanTest, AnExpressionWithoutAValueIsABrokenRule) {
  use(with("grid = [\"ceil_div(cols, block_x)\"", "grid = [\"cols // (block_x - 32)\""));
  EXPECT_THAT(why_not("naive"), HasSubstr("zero"));
}

TEST(ProblemCost, IsWhatTheSpecSays) {
  const KernelSpec spec = example_spec();
  const ProblemCost cost = Setting(spec, Problem::parse(spec, "rows=10,cols=20"),
                                   device_for_architecture("opencl", "opencl"))
                               .cost();
  EXPECT_EQ(cost.bytes, 1600);
  EXPECT_EQ(cost.flops, 0);
}

}  // namespace
}  // namespace kiln
