// Opening, selecting and preparing; the user's own kernels; many queues and threads.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "tests/launcher/opencl_application.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::LauncherFolder;
using test::OpenClApplication;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
  for (std::thread& thread : threads) {
    thread.join();
  }
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

}  // namespace
}  // namespace kiln
