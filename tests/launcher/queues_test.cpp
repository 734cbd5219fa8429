// What launches that run at the same time must not share: constants are part of a program's memory.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "backends/backend.hpp"
#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/launcher/tuned_database.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

class Queues : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty())
      GTEST_SKIP() << missing;
    Launcher::Options options = Launcher::Options::on_device("cuda");
    options.databases = {folder_ / "kiln.db"};
    options.cache_folder = folder_ / "cache";
    for (const int height : {500, 512}) store_filter_in_constant_memory(height);
    store_sum_with_a_workspace();
    launcher_.emplace(options);
  }

  void store_filter_in_constant_memory(int height) const {
    const Config config = {"image",
                           {{"threads_x", std::int64_t{32}},
                            {"threads_y", std::int64_t{8}},
                            {"micro_x", std::int64_t{4}},
                            {"micro_y", std::int64_t{4}},
                            {"filter_in", std::string("constant")},
                            {"unrolled", std::string("filter")},
                            {"blocks_per_unit", std::int64_t{4}}}};
    test::store_best(folder_ / "kiln.db",
                     {"convolution", fmt::format("h={} w=512 fh=3 fw=3", height),
                      fmt::format(R"({{"h":{},"w":512,"fh":3,"fw":3}})", height), config},
                     [](DeviceInfo& device) { device = make_backend("cuda")->devices().at(0); });
  }

  void store_sum_with_a_workspace() const {
    const Config config = {"ticket",
                           {{"block_size", std::int64_t{256}},
                            {"load_bytes", std::int64_t{16}},
                            {"unroll", std::int64_t{4}},
                            {"accumulators", std::int64_t{1}},
                            {"blocks_per_unit", std::int64_t{4}},
                            {"streaming", false},
                            {"finish", std::string("tree")}}};
    test::store_best(folder_ / "kiln.db", {"reduce", "n=100000", R"({"n":100000})", config},
                     [](DeviceInfo& device) { device = make_backend("cuda")->devices().at(0); });
  }

  /// A filter in constant memory; the source is the same for every height.
  [[nodiscard]] Launcher::Kernel filter(const std::string& height) const {
    return launcher_->prepare("convolution", "h=" + height + " w=512 fh=3 fw=3").value();
  }
  static void launch(const Launcher::Kernel& kernel, void* queue, std::size_t height) {
    std::vector<float> image(height * 512);
    std::vector<float> taps(9);
    kernel
        .launch(queue, {array("in", image.data(), image.size()), array("filter", taps.data(), 9),
                        array("out", image.data(), image.size())})
        .value();
  }

  static Expected<void> launch_sum(const Launcher::Kernel& kernel, void* queue) {
    std::vector<float> in(100000);
    alignas(16) float out = 0;
    return kernel.launch(queue, {array("in", in.data(), in.size()), array("out", &out, 1)});
  }

  test::LauncherFolder folder_;
  std::optional<Launcher> launcher_;
};

TEST_F(Queues, KernelsOfOneSourceHaveConstantsOfTheirOwn) {
  const std::uint64_t before = test::cuda_stub_programs();
  const Launcher::Kernel one = filter("512");
  ASSERT_THAT(one.match().config, HasSubstr("filter_in=constant"));
  const Launcher::Kernel other = filter("500");
  ASSERT_EQ(one.match().config, other.match().config);
  EXPECT_EQ(test::cuda_stub_programs() - before, 2U);
}

TEST_F(Queues, TheStreamOfEachThreadIsAQueueOfItsOwn) {
  const auto stream_of_thread = reinterpret_cast<void*>(2);  // cudaStreamPerThread
  const Launcher::Kernel kernel = filter("512");
  ASSERT_THAT(kernel.match().config, HasSubstr("filter_in=constant"));
  const std::uint64_t before = test::cuda_stub_programs();
  for (int repeat = 0; repeat < 2; ++repeat) launch(kernel, stream_of_thread, 512);
  EXPECT_EQ(test::cuda_stub_programs() - before, 1U);
  std::thread([&] { launch(kernel, stream_of_thread, 512); }).join();
  EXPECT_EQ(test::cuda_stub_programs() - before, 2U);
}

TEST_F(Queues, OfALauncherOnTheStreamOfEachThreadAreThreadsApart) {
  const auto stream_of_thread = reinterpret_cast<void*>(2);  // cudaStreamPerThread
  int context = 0;
  Launcher::Options options = Launcher::Options::on_device("cuda");
  options.native = Launcher::Native{&context, 0, stream_of_thread};
  options.databases = {folder_ / "kiln.db"};
  options.cache_folder = folder_ / "cache";
  const Launcher launcher(options);
  const Launcher::Kernel kernel = launcher.prepare("reduce", "n=100000").value();
  ASSERT_THAT(kernel.match().config, HasSubstr("ticket"));
  test::cuda_stub_watch(2);  // the workspace
  const auto workspace_of = [&](void* queue) {
    launch_sum(kernel, queue).value();
    return test::cuda_stub_watched();
  };
  const std::uint64_t here = workspace_of(nullptr);
  EXPECT_EQ(workspace_of(stream_of_thread), here) << "the same stream by its handle";
  std::uint64_t there = 0;
  std::thread([&] { there = workspace_of(nullptr); }).join();
  EXPECT_NE(there, here);
}

TEST_F(Queues, GiveBackWhatTheyHeldWhenTheyAreForgotten) {
  const Launcher::Kernel with_program = filter("512");
  const Launcher::Kernel with_workspace = launcher_->prepare("reduce", "n=100000").value();
  ASSERT_THAT(with_workspace.match().config, HasSubstr("ticket"));
  const std::size_t workspaces = with_workspace.workspaces().size();
  ASSERT_GT(workspaces, 0U);
  const std::uint64_t held = test::cuda_stub_held();
  std::vector<char> queues(20);
  for (char& queue : queues) {
    launch(with_program, &queue, 512);
    launch_sum(with_workspace, &queue).value();
    EXPECT_EQ(test::cuda_stub_held(), held + 1 + workspaces) << "a program of its own, too";
    launcher_->forget_queue(&queue).value();
    EXPECT_EQ(test::cuda_stub_held(), held);
  }
  launch_sum(with_workspace, &queues[0]).value();
  launch_sum(with_workspace, &queues[1]).value();
  EXPECT_EQ(test::cuda_stub_held(), held + 2 * workspaces);
  launcher_->forget_queue(&queues[1]).value();
  launcher_->forget_queue(&queues[2]).value();  // which has nothing
  launch_sum(with_workspace, &queues[0]).value();
  EXPECT_EQ(test::cuda_stub_held(), held + workspaces);
}

TEST_F(Queues, OfTheLauncherAreNotForgotten) {
  const Expected<void> refused = launcher_->forget_queue(nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, LaunchErrorCode::bad_argument);
  EXPECT_THAT(refused.error().message, HasSubstr("own queue"));
}

TEST_F(Queues, ComeAndGoWhileOthersLaunch) {
  const Launcher::Kernel kernel = launcher_->prepare("reduce", "n=100000").value();
  const std::uint64_t held = test::cuda_stub_held();
  char shared = 0;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      char own = 0;
      for (int round = 0; round < 200; ++round) {
        if (!launch_sum(kernel, t % 2 == 0 ? &shared : &own)) ++failures;
        if (t % 2 == 1 && !launcher_->forget_queue(&own)) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(test::cuda_stub_held(), held + kernel.workspaces().size()) << "of the shared one";
}

}  // namespace
}  // namespace kiln
