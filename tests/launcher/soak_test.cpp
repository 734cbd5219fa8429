// Many threads over one launcher: selections and launches of 50 problems, each checked.
//
// The CUDA path runs on a driver without a GPU (tests/support/cuda_stub.cpp), so that every line
// that ThreadSanitizer watches is Kiln's. KILN_SOAK=1: a million selections and launches a thread.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kiln/launcher.hpp>
#include <kiln/problem_text.hpp>

#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"

namespace kiln {
namespace {

constexpr int kThreads = 16;
constexpr int kProblems = 50;

int rounds() { return std::getenv("KILN_SOAK") != nullptr ? 1'000'000 : 4'000; }

TEST(Soak, SixteenThreadsSelectAndLaunchFiftyProblems) {
  if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const test::LauncherFolder folder;
  Launcher::Options options = Launcher::Options::on_device("cuda");
  options.databases = {folder / "none.db"};
  options.cache_folder = folder / "cache";
  const Launcher launcher(options);
  std::vector<std::string> failures(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Half of the threads share a queue; memory is never touched by the stub.
      char queue = 0;
      void* stream = t % 2 == 0 ? &queue : nullptr;
      char memory_of_all[64];
      for (int round = 0; round < rounds(); ++round) {
        const int n = 1000 + (round + t) % kProblems;
        ProblemText problem;
        problem.add("n", n);
        const Expected<Launcher::MatchHandle> match = launcher.select("reduce", problem);
        const Expected<Launcher::Kernel> kernel = launcher.prepare("reduce", problem);
        if (!match || !kernel || kernel->match().config != (*match)->config) {
          failures[static_cast<std::size_t>(t)] = "another config was launched than selected";
          return;
        }
        const Expected<void> done =
            kernel->launch(stream, {memory("in", memory_of_all, static_cast<std::size_t>(n) * 4),
                                    memory("out", memory_of_all, 4)});
        if (!done) {
          failures[static_cast<std::size_t>(t)] = done.error().message;
          return;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& failure : failures) {
    EXPECT_EQ(failure, "");
  }
  // One step each at least, and nothing waited.
  EXPECT_GE(test::cuda_stub_launches(),
            static_cast<std::uint64_t>(kThreads) * static_cast<std::uint64_t>(rounds()));
  EXPECT_EQ(test::cuda_stub_waits(), 0U);
}

}  // namespace
}  // namespace kiln
