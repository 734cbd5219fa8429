// Launches into a stream that is being captured run the config that was timed in a graph.
//
// The driver is the one without a GPU (tests/support/cuda_stub.cpp): a stream is captured where the
// test says so, and the last launch tells its block. tests/launcher/captured_cuda_test.cpp captures
// on a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"
#include "tests/support/allocation_counter.hpp"

namespace kiln {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
}  // namespace kiln
