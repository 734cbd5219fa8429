// Captured launches, tensor maps and the warm path.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/kernels.hpp>
#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"
#include "tests/support/allocation_counter.hpp"

namespace kiln {
namespace {

using test::allocations_of_this_thread;
using test::LauncherFolder;
using test::OpenClApplication;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Launches into a stream that is being captured run the config that was timed in a graph.
//
// The driver is the one without a GPU (tests/support/cuda_stub.cpp): a stream is captured where the
// test says so, and the last launch tells its block. tests/launcher/captured_cuda_test.cpp captures
// on a GPU.

class CapturedLaunches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty())
      GTEST_SKIP() << missing;
  }
  void TearDown() override {
    if (test::missing_for_cuda_stub().empty()) test::cuda_stub_capture(nullptr);
  }

  void store(std::int64_t block, Timing timing) const {
    const Config config = {"ticket",
                           {{"block_size", block},
                            {"load_bytes", std::int64_t{16}},
                            {"unroll", std::int64_t{4}},
                            {"accumulators", std::int64_t{1}},
                            {"blocks_per_unit", std::int64_t{4}},
                            {"streaming", false},
                            {"finish", std::string("tree")}}};
    test::store_best(folder_ / "kiln.db", {"reduce", "n=100000", R"({"n":100000})", config, timing},
                     [](DeviceInfo& device) { device = make_backend("cuda")->devices().at(0); });
  }

  [[nodiscard]] Launcher::Kernel prepare(Launcher::Timing timing) {
    Launcher::Options options = Launcher::Options::on_device("cuda");
    options.databases = {folder_ / "kiln.db"};
    options.use_shipped = use_shipped_;
    options.cache_folder = folder_ / "cache";
    options.timing = timing;
    options.statistics = folder_ / "calls.jsonl";
    launcher_.emplace(options);
    return launcher_->prepare("reduce", "n=100000").value();
  }

  /// Threads of a block of the launch.
  std::uint64_t launch(const Launcher::Kernel& kernel) {
    kernel
        .launch(&stream_, {memory("in", in_.data(), in_.size() * sizeof(float)),
                           memory("out", out_.data(), sizeof(float))})
        .value();
    return test::cuda_stub_block();
  }

  test::LauncherFolder folder_;
  bool use_shipped_ = false;
  alignas(16) char stream_ = 0;
  alignas(64) std::vector<float> in_ = std::vector<float>(100000);
  std::vector<float> out_ = std::vector<float>(64);
  std::optional<Launcher> launcher_;
};

TEST_F(CapturedLaunches, RunTheConfigThatWasTimedInAGraph) {
  store(256, Timing::eager);
  store(512, Timing::graph);
  const Launcher::Kernel kernel = prepare(Launcher::Timing::automatic);
  kernel.prepare_queue(&stream_).value();
  EXPECT_THAT(kernel.match().config, HasSubstr("block_size=256"));
  EXPECT_THAT(kernel.captured_match().config, HasSubstr("block_size=512"));
  EXPECT_FALSE(kernel.captured_match().other_timing);
  EXPECT_EQ(launch(kernel), 256U);
  test::cuda_stub_capture(&stream_);
  const std::uint64_t before = test::allocations_of_this_thread();
  const std::uint64_t held = test::cuda_stub_held();
  EXPECT_EQ(launch(kernel), 512U);
  EXPECT_EQ(test::allocations_of_this_thread(), before) << "a capture forbids it";
  EXPECT_EQ(test::cuda_stub_held(), held);
  test::cuda_stub_capture(nullptr);
  EXPECT_EQ(launch(kernel), 256U);
  EXPECT_EQ(launcher_->statistics()->launches[0], 3U);
}

// Both answers are kept, so a later process reads no shipped rows, and builds nothing twice because
// of them.
TEST_F(CapturedLaunches, AskForNoShippedRowsWhereAnswersAreKept) {
  store(256, Timing::eager);
  store(512, Timing::graph);
  std::map<bool, std::uint64_t> allocations;
  for (const bool use_shipped : {false, true}) {
    use_shipped_ = use_shipped;
    const Launcher::Match first = prepare(Launcher::Timing::automatic).captured_match();
    const std::uint64_t before = test::allocations_of_this_thread();
    const Launcher::Match kept = prepare(Launcher::Timing::automatic).captured_match();
    allocations[use_shipped] = test::allocations_of_this_thread() - before;
    EXPECT_THAT(kept.config, HasSubstr("block_size=512"));
    EXPECT_EQ(kept.reason, first.reason);
  }
  EXPECT_LT(static_cast<double>(allocations[true]), 1.2 * static_cast<double>(allocations[false]));
}

TEST_F(CapturedLaunches, SayWhenThereIsOnlyTheEagerRow) {
  store(256, Timing::eager);
  const Launcher::Kernel kernel = prepare(Launcher::Timing::automatic);
  EXPECT_FALSE(kernel.match().other_timing);
  EXPECT_TRUE(kernel.captured_match().other_timing);
  EXPECT_THAT(kernel.captured_match().reason, EndsWith("; measured eagerly, not in a graph"));
  test::cuda_stub_capture(&stream_);
  EXPECT_EQ(launch(kernel), 256U);
}

TEST_F(CapturedLaunches, AnOptionDecidesForAllLaunches) {
  store(256, Timing::eager);
  store(512, Timing::graph);
  const Launcher::Kernel graph = prepare(Launcher::Timing::graph);
  EXPECT_EQ(launch(graph), 512U);
  EXPECT_EQ(graph.captured_match().config, graph.match().config);
  const Launcher::Kernel eager = prepare(Launcher::Timing::eager);
  test::cuda_stub_capture(&stream_);
  EXPECT_EQ(launch(eager), 256U);
}

TEST_F(CapturedLaunches, SayWhenThereIsOnlyTheGraphRow) {
  store(512, Timing::graph);
  const Launcher::Kernel kernel = prepare(Launcher::Timing::eager);
  EXPECT_EQ(launch(kernel), 512U) << "better than the default config";
  EXPECT_TRUE(kernel.match().other_timing);
  EXPECT_THAT(kernel.match().reason, EndsWith("; measured in a graph, not eagerly"));
  EXPECT_THAT(prepare(Launcher::Timing::graph).match().reason, Not(HasSubstr("measured")));
}

// Kernels with tensor maps in the launcher: a map is encoded when its memory moves and at no other
// time, and the kernel gets the map of the memory that it was launched with.
//
// The driver is the one without a GPU (tests/support/cuda_stub.cpp): its maps begin with the
// address that they describe.

constexpr std::size_t kBytes = std::size_t{64} * 96 * sizeof(float);

/// Rows of the example are multiples of 16 bytes, so its default config has two maps.
class TensorMapLaunches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty())
      GTEST_SKIP() << missing;
    Launcher::Options options = Launcher::Options::on_device("cuda");
    options.databases = {folder_ / "none.db"};
    options.cache_folder = folder_ / "cache";
    options.kernel_paths = {KILN_SOURCE_DIR "/examples/bulk_transpose"};
    launcher_.emplace(options);
    kernel_ = launcher_->prepare("bulk_transpose", "rows=64 cols=96").value();
    ASSERT_THAT(kernel_->match().config, HasSubstr("bulk:"));
  }

  /// How many maps were encoded for a launch.
  std::uint64_t launch(void* queue, void* in, void* out) {
    const std::uint64_t before = test::cuda_stub_tensor_maps();
    kernel_->launch(queue, {memory("in", in, kBytes), memory("out", out, kBytes)}).value();
    return test::cuda_stub_tensor_maps() - before;
  }

  static void* address(std::uint64_t number) { return reinterpret_cast<void*>(number << 8U); }
  static std::uint64_t seen_by_the_kernel() { return test::cuda_stub_watched() >> 8U; }

  test::LauncherFolder folder_;
  std::optional<Launcher> launcher_;
  std::optional<Launcher::Kernel> kernel_;
};

TEST_F(TensorMapLaunches, EncodeTheMapsWhoseMemoryMovedAndNoOther) {
  EXPECT_EQ(launch(nullptr, address(1), address(2)), 2U);
  EXPECT_EQ(launch(nullptr, address(1), address(2)), 0U);
  EXPECT_EQ(launch(nullptr, address(1), address(3)), 1U);
  EXPECT_EQ(launch(nullptr, address(1), address(3)), 0U);
  EXPECT_EQ(launch(nullptr, address(4), address(5)), 2U);
  EXPECT_EQ(launch(nullptr, address(5), address(4)), 2U);
}

TEST_F(TensorMapLaunches, CountTheOffsetOfTheMemory) {
  const auto launch_at = [&](std::size_t offset) {
    const std::uint64_t before = test::cuda_stub_tensor_maps();
    kernel_
        ->launch(nullptr,
                 {memory("in", address(1), kBytes, offset), memory("out", address(2), kBytes)})
        .value();
    return test::cuda_stub_tensor_maps() - before;
  };
  test::cuda_stub_watch(0);
  EXPECT_EQ(launch_at(0), 2U);
  EXPECT_EQ(launch_at(512), 1U);
  EXPECT_EQ(seen_by_the_kernel(), 3U);
  EXPECT_EQ(launch_at(512), 0U);
}

TEST_F(TensorMapLaunches, GiveTheKernelTheMapOfItsMemory) {
  std::vector<char> queues(2);
  launch(&queues[0], address(1), address(2));
  launch(&queues[1], address(3), address(4));
  for (int parameter = 0; parameter < 2; ++parameter) {
    test::cuda_stub_watch(parameter);
    const auto number = static_cast<std::uint64_t>(parameter);
    EXPECT_EQ(launch(&queues[0], address(1), address(2)), 0U) << "each queue has maps of its own";
    EXPECT_EQ(seen_by_the_kernel(), 1 + number);
    EXPECT_EQ(launch(&queues[1], address(3), address(4)), 0U);
    EXPECT_EQ(seen_by_the_kernel(), 3 + number);
  }
}

TEST_F(TensorMapLaunches, AllocateNothingWarm) {
  launch(nullptr, address(1), address(2));
  launch(nullptr, address(1), address(2));
  const std::uint64_t before = allocations_of_this_thread();
  const std::uint64_t waits = test::cuda_stub_waits();
  launch(nullptr, address(1), address(2));
  EXPECT_EQ(allocations_of_this_thread(), before);
  launch(nullptr, address(3), address(4));  // with maps to encode, too
  EXPECT_EQ(allocations_of_this_thread(), before);
  EXPECT_EQ(test::cuda_stub_waits(), waits);
}

// Applications pass pointers, and know nothing of maps.
TEST_F(TensorMapLaunches, TakeTheArgumentsOfTheSpec) {
  std::vector<std::string> names;
  for (const Launcher::Kernel::Requirement& argument : kernel_->arguments()) {
    names.push_back(argument.name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("in", "out"));
}

TEST_F(TensorMapLaunches, ANewProblemHasMapsOfItsOwn) {
  launch(nullptr, address(1), address(2));
  const Launcher::Kernel other = launcher_->prepare("bulk_transpose", "rows=128 cols=48").value();
  const std::uint64_t before = test::cuda_stub_tensor_maps();
  other.launch(nullptr, {memory("in", address(1), kBytes), memory("out", address(2), kBytes)})
      .value();
  EXPECT_EQ(test::cuda_stub_tensor_maps() - before, 2U);
}

// Warm, the launcher allocates nothing: selecting, preparing again, launching, the ready-made
// calls.

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
