// The launcher and its queues.
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

using test::error_text;
using test::LauncherFolder;
using test::OpenClApplication;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Opening, selecting and preparing; the user's own kernels; many queues and threads.

const std::string kPolynomial = KILN_SOURCE_DIR "/examples/polynomial";

TEST(Launcher, OpensOnTheApplicationsQueue) {
  const LauncherFolder folder;
  const Launcher launcher(folder.options());
  EXPECT_THAT(launcher.device(), StartsWith("opencl:"));
}

TEST(Launcher, OpensADeviceByNameOrTheFirstThereIs) {
  const LauncherFolder folder;
  Launcher::Options options = folder.options();
  options.native.reset();
  options.backend = "opencl";
  EXPECT_EQ(error_text(Launcher::open(options)), "no error");
  options.backend = "auto";
  EXPECT_EQ(error_text(Launcher::open(options)), "no error");
}

TEST(Launcher, SaysWhyItCannotOpen) {
  const LauncherFolder folder;
  Launcher::Options options = folder.options();
  options.native.reset();
  options.backend = "metal";
  const Expected<Launcher> unknown = Launcher::open(options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, LaunchErrorCode::bad_option);
  EXPECT_THAT(unknown.error().message, StartsWith("unknown backend 'metal'"));

  options.backend = "opencl";
  options.ordinal = 99;
  const Expected<Launcher> absent = Launcher::open(options);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, LaunchErrorCode::no_device);
  EXPECT_THAT(absent.error().message, StartsWith("no device opencl:99"));
  EXPECT_THROW(Launcher{options}, LaunchFailure);

  options = folder.options();
  options.backend = "auto";
  EXPECT_EQ(error_text(Launcher::open(options)),
            "the backend must be named where the application gives its own queue");
}

TEST(Launcher, SelectsTheDefaultWhereNothingIsKnown) {
  const LauncherFolder folder;
  const Launcher launcher(folder.options());
  const Launcher::Match match = *launcher.select("transpose", "rows=64 cols=64").value();
  EXPECT_EQ(match.grade, Launcher::Grade::fallback);
  EXPECT_STREQ(to_string(match.grade), "default");
  EXPECT_FALSE(match.stale);
  EXPECT_EQ(match.reason,
            "nothing tuned for this kernel on a device like this one: the spec's default config");
  EXPECT_EQ(launcher.select("transpose", "rows=64 cols=64").value()->config, match.config);
}

TEST(Launcher, NamesUnknownKernelsAndProblems) {
  const LauncherFolder folder;
  const Launcher launcher(folder.options());
  const auto unknown = launcher.select("transposed", "rows=64 cols=64");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, LaunchErrorCode::unknown_kernel);
  EXPECT_THAT(unknown.error().message, HasSubstr("transposed"));

  const auto problem = launcher.prepare("transpose", "rows=64 columns=64");
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().code, LaunchErrorCode::bad_problem);
  EXPECT_THAT(problem.error().message, StartsWith("transpose: "));
  EXPECT_THAT(problem.error().message, HasSubstr("columns"));
}

TEST(Launcher, PreparesAKernelOnce) {
  const LauncherFolder folder;
  const Launcher launcher(folder.options());
  const Launcher::Kernel first = launcher.prepare("transpose", "rows=64 cols=32").value();
  const Launcher::Kernel second = launcher.prepare("transpose", "rows=64 cols=32").value();
  EXPECT_EQ(&first.match(), &second.match());  // the same kernel
  EXPECT_EQ(first.problem(), "rows=64 cols=32 batch=1 dtype=f32");
  ASSERT_EQ(first.arguments().size(), 2U);
  EXPECT_EQ(first.arguments()[0].name, "in");
  EXPECT_EQ(first.arguments()[0].dtype, "f32");
  EXPECT_EQ(first.arguments()[0].bytes, 64U * 32 * 4);
}

TEST(Launcher, KernelsOutliveTheirLauncher) {
  const LauncherFolder folder;
  OpenClApplication& application = OpenClApplication::instance();
  auto launcher = std::make_unique<Launcher>(folder.options());
  const Launcher::Kernel kernel = launcher->prepare("transpose", "rows=1 cols=2").value();
  launcher.reset();
  const cl_mem in = application.upload(std::vector<float>{3, 4});
  const cl_mem out = application.allocate(8);
  kernel.launch(nullptr, {memory("in", in, 8), memory("out", out, 8)}).value();
  EXPECT_EQ(application.download<float>(out, 2), (std::vector<float>{3, 4}));
}

TEST(Launcher, RunsAKernelOfTheApplicationsOwn) {
  const LauncherFolder folder;
  OpenClApplication& application = OpenClApplication::instance();
  Launcher::Options options = folder.options();
  options.kernel_paths = {kPolynomial};
  const Launcher launcher(options);
  const cl_mem x = application.upload(std::vector<float>{0, 1, 2, 3, -1, 0.5F, 10});
  const cl_mem y = application.allocate(7 * 4);
  const Launcher::Kernel kernel = launcher.prepare("polynomial", "n=7").value();
  kernel
      .launch(application.queue(), {scalar("a", 2), scalar("b", -1.0F), scalar("c", 0.5),
                                    memory("x", x, 28), memory("y", y, 28)})
      .value();
  EXPECT_EQ(application.download<float>(y, 7),
            (std::vector<float>{0.5F, 1.5F, 6.5F, 15.5F, 3.5F, 0.5F, 190.5F}));
}

TEST(Launcher, RefusesAFolderThatHoldsNoKernel) {
  const LauncherFolder folder;
  Launcher::Options options = folder.options();
  options.kernel_paths = {folder / "nothing"};
  EXPECT_THAT(error_text(Launcher::open(options)), HasSubstr(folder / "nothing"));
}

TEST(Launcher, ServesManyQueuesAndThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 25;
  const LauncherFolder folder;
  OpenClApplication& application = OpenClApplication::instance();
  const Launcher launcher(folder.options());
  std::vector<std::string> failures(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Two problems between four threads; every thread its own queue and data.
      const std::size_t n = 1000 + 500 * static_cast<std::size_t>(t % 2);
      const cl_command_queue queue = application.make_queue();
      const std::vector<float> in(n, static_cast<float>(t + 1));
      const cl_mem in_memory = application.upload(in);
      const cl_mem out = application.allocate(4);
      for (int round = 0; round < kRounds; ++round) {
        const auto kernel = launcher.prepare("reduce", "n=" + std::to_string(n));
        const auto done =
            !kernel
                ? Expected<void>(kernel.error())
                : kernel->launch(queue, {memory("in", in_memory, n * 4), memory("out", out, 4)});
        const float sum = application.download<float>(out, 1, queue)[0];
        if (!done || sum != static_cast<float>(n) * static_cast<float>(t + 1)) {
          failures[static_cast<std::size_t>(t)] = error_text(done) + ", sum " + std::to_string(sum);
        }
      }
      ::clReleaseCommandQueue(queue);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, ::testing::Each(""));
}

TEST(Launcher, ForgetsQueuesThatGo) {
  const LauncherFolder folder;
  OpenClApplication& application = OpenClApplication::instance();
  const Launcher launcher(folder.options());
  const Launcher::Kernel kernel = launcher.prepare("reduce", "n=1000").value();
  const cl_mem in = application.upload(std::vector<float>(1000, 2.0F));
  const cl_mem out = application.allocate(4);
  for (int round = 0; round < 5; ++round) {
    const cl_command_queue queue = application.make_queue();
    kernel.launch(queue, {memory("in", in, 4000), memory("out", out, 4)}).value();
    EXPECT_EQ(application.download<float>(out, 1, queue)[0], 2000);
    launcher.forget_queue(queue).value();
    ::clReleaseCommandQueue(queue);
  }
  kernel.launch(nullptr, {memory("in", in, 4000), memory("out", out, 4)}).value();
  application.wait();
}

// What launches that run at the same time must not share: constants are part of a program's memory.

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
