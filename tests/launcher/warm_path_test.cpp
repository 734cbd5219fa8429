// Warm, the launcher allocates nothing: selecting, preparing again, launching, the ready-made
// calls.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kiln/kernels.hpp>

#include "tests/launcher/opencl_application.hpp"
#include "tests/support/allocation_counter.hpp"

namespace kiln {
namespace {

using test::allocations_of_this_thread;
using test::LauncherFolder;
using test::OpenClApplication;

/// Allocations of the third time: the first two may make things ready.
template <typename Work>
std::uint64_t allocations_when_warm(Work&& work) {
  work();
  work();
  const std::uint64_t before = allocations_of_this_thread();
  work();
  return allocations_of_this_thread() - before;
}

class WarmPath : public ::testing::Test {
 protected:
  void TearDown() override { application_.wait(); }

  OpenClApplication& application_ = OpenClApplication::instance();
  void* queue_ = application_.queue();
  LauncherFolder folder_;
  Launcher launcher_{folder_.options()};
};

TEST_F(WarmPath, TheCounterCounts) {
  const std::uint64_t before = allocations_of_this_thread();
  ASSERT_TRUE(launcher_.select("reduce", "n=100"));  // cold, inside the library
  EXPECT_GT(allocations_of_this_thread(), before);
}

TEST_F(WarmPath, SelectingAgainAllocatesNothing) {
  EXPECT_EQ(allocations_when_warm([&] {
              ASSERT_EQ(launcher_.select("reduce", "n=12345 dtype=f64 op=max")->get()->stale,
                        false);
            }),
            0U);
  std::int64_t n = 12345;
  EXPECT_EQ(allocations_when_warm([&] {
              ProblemText problem;
              problem.add("n", n).add("dtype", "f64").add("op", "max");
              ASSERT_TRUE(launcher_.select("reduce", problem));
            }),
            0U);
}

TEST_F(WarmPath, LaunchingAllocatesNothing) {
  const cl_mem in = application_.upload(std::vector<float>(1000, 2.0F));
  const cl_mem out = application_.allocate(4);
  const Launcher::Kernel kernel = launcher_.prepare("reduce", "n=1000").value();
  EXPECT_EQ(allocations_when_warm([&] {
              ASSERT_TRUE(kernel.launch(queue_, {memory("in", in, 4000), memory("out", out, 4)}));
              ASSERT_TRUE(kernel.launch(queue_, {memory("out", out, 4), memory("in", in, 4000)}));
            }),
            0U);
  EXPECT_EQ(application_.download<float>(out, 1)[0], 2000);
}

TEST_F(WarmPath, ManyStepsAndConstantsAllocateNothing) {
  // A filter in constant memory, a bias of scalars: what a launch can be given.
  const cl_mem image = application_.upload(std::vector<float>(400, 1.0F));
  const cl_mem filter = application_.upload(std::vector<float>(9, 1.0F));
  const cl_mem out = application_.allocate(1600);
  const Launcher::Kernel kernel = launcher_.prepare("convolution", "h=20 w=20 fh=3 fw=3").value();
  EXPECT_EQ(
      allocations_when_warm([&] {
        ASSERT_TRUE(kernel.launch(queue_, {memory("in", image, 1600), memory("filter", filter, 36),
                                           memory("out", out, 1600)}));
      }),
      0U);
  EXPECT_EQ(application_.download<float>(out, 400)[21], 9);
}

TEST_F(WarmPath, ReadyMadeCallsAllocateNothing) {
  std::vector<float> matrix(64 * 32, 1.0F);
  const cl_mem in = application_.upload(matrix);
  const cl_mem out = application_.allocate(64 * 64 * 4);
  ReduceCall sum;
  sum.n = 64 * 32;
  sum.in = in;
  sum.out = out;
  EXPECT_EQ(allocations_when_warm([&] { ASSERT_TRUE(reduce(launcher_, queue_, sum)); }), 0U);
  MatmulCall product;
  product.m = 8;
  product.n = 8;
  product.k = 32;
  product.a = in;
  product.b = in;
  product.c = out;
  EXPECT_EQ(allocations_when_warm([&] { ASSERT_TRUE(matmul(launcher_, queue_, product)); }), 0U);
}

TEST_F(WarmPath, ANewQueueCanBeMadeReadyBeforehand) {
  const cl_mem in = application_.upload(std::vector<float>(1000, 2.0F));
  const cl_mem out = application_.allocate(4);
  const Launcher::Kernel kernel = launcher_.prepare("reduce", "n=1000").value();
  const cl_command_queue other = application_.make_queue();
  kernel.prepare_queue(other).value();
  const std::uint64_t before = allocations_of_this_thread();
  ASSERT_TRUE(kernel.launch(other, {memory("in", in, 4000), memory("out", out, 4)}));
  EXPECT_EQ(allocations_of_this_thread(), before);
  EXPECT_EQ(application_.download<float>(out, 1, other)[0], 2000);
  ::clReleaseCommandQueue(other);
}

TEST(ProblemText, IsWhatOneWouldWrite) {
  ProblemText problem;
  EXPECT_EQ(problem.text(), "");
  problem.add("n", std::int64_t{-5}).add("trans_a", true).add("dtype", "f32");
  problem.add_quoted("map", "x * x");
  EXPECT_EQ(problem.text(), "n=-5 trans_a=true dtype=f32 map='x * x'");
  const std::string formula(500, 'x');
  problem.add_quoted("map2", formula).add("m", 7U);
  EXPECT_EQ(problem.text(), "n=-5 trans_a=true dtype=f32 map='x * x' map2='" + formula + "' m=7");
}

}  // namespace
}  // namespace kiln
