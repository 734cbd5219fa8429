// A size that nobody tuned: launches run what is compiled, and configs take turns on them.
//
// The driver is the one without a GPU (tests/support/cuda_stub.cpp): a launch takes a microsecond
// for each thread of its block, so the test knows the fastest config.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
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

using ::testing::HasSubstr;
using ::testing::Not;

using Untuned = Launcher::Untuned;

Config ticket(std::int64_t block) {
  return {"ticket",
          {{"block_size", block},
           {"load_bytes", std::int64_t{16}},
           {"unroll", std::int64_t{4}},
           {"accumulators", std::int64_t{1}},
           {"blocks_per_unit", std::int64_t{4}},
           {"streaming", false},
           {"finish", std::string("tree")}}};
}

class UntunedSize : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::missing_for_cuda_stub(); !missing.empty())
      GTEST_SKIP() << missing;
    test::cuda_stub_time_blocks(true);
    store(100000, 128);
    store(3200000, 512);
  }
  void TearDown() override {
    if (!test::missing_for_cuda_stub().empty()) return;
    test::cuda_stub_capture(nullptr);
    test::cuda_stub_time_blocks(false);
  }

  void store(std::int64_t n, std::int64_t block) const {
    test::store_best(
        folder_ / "kiln.db",
        {"reduce", "n=" + std::to_string(n), R"({"n":)" + std::to_string(n) + "}", ticket(block)},
        [](DeviceInfo& device) { device = make_backend("cuda")->devices().at(0); });
  }

  [[nodiscard]] Launcher::Kernel prepare(Untuned untuned, const std::string& problem) {
    Launcher::Options options = Launcher::Options::on_device("cuda");
    options.databases = {folder_ / "kiln.db"};
    options.use_shipped = false;
    options.cache_folder = folder_ / "cache";
    options.untuned = untuned;
    launcher_.emplace(options);
    return launcher_->prepare("reduce", problem).value();
  }

  /// Threads of a block of the launch.
  std::uint64_t launch(const Launcher::Kernel& kernel) {
    kernel
        .launch(&stream_, {memory("in", in_.data(), in_.size() * sizeof(float)),
                           memory("out", out_.data(), sizeof(float))})
        .value();
    return test::cuda_stub_block();
  }

  /// Launches until nothing changes any more.
  void settle(const Launcher::Kernel& kernel) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (kernel.is_settling() && std::chrono::steady_clock::now() < until) {
      launch(kernel);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_FALSE(kernel.is_settling());
  }

  test::LauncherFolder folder_;
  alignas(16) char stream_ = 0;
  alignas(64) std::vector<float> in_ = std::vector<float>(3200000);
  std::vector<float> out_ = std::vector<float>(64);
  std::optional<Launcher> launcher_;
};

// Of 2,000,000 more is expected of what is best for 3,200,000.
TEST_F(UntunedSize, RunsWhatIsCompiledAndThenWhatIsExpected) {
  ASSERT_EQ(launch(prepare(Untuned::wait, "n=100000")), 128U);
  const std::uint64_t programs = test::cuda_stub_programs();
  const Launcher::Kernel kernel = prepare(Untuned::ready, "n=2000000");
  EXPECT_EQ(test::cuda_stub_programs(), programs + 1);
  EXPECT_TRUE(kernel.from_cache());
  EXPECT_TRUE(kernel.is_settling());
  EXPECT_THAT(kernel.match().config, HasSubstr("block_size=128"));
  EXPECT_THAT(kernel.match().reason, HasSubstr("; until ticket:block_size=512"));
  EXPECT_EQ(launch(kernel), 128U) << "the first launch waits for no compiler";
  settle(kernel);
  EXPECT_THAT(kernel.match().config, HasSubstr("block_size=512"));
  EXPECT_THAT(kernel.match().reason, Not(HasSubstr("until")));
  EXPECT_EQ(launch(kernel), 512U);
}

TEST_F(UntunedSize, WaitsWithoutTheOption) {
  ASSERT_EQ(launch(prepare(Untuned::wait, "n=100000")), 128U);
  const Launcher::Kernel kernel = prepare(Untuned::wait, "n=2000000");
  EXPECT_FALSE(kernel.is_settling());
  EXPECT_EQ(launch(kernel), 512U);
}

TEST_F(UntunedSize, RacesOnTheApplicationsLaunches) {
  const Launcher::Kernel kernel = prepare(Untuned::race, "n=2000000");
  EXPECT_EQ(launch(kernel), 512U) << "nothing was compiled: the expected config was";
  settle(kernel);
  EXPECT_THAT(kernel.match().config, HasSubstr("block_size=128"));
  EXPECT_THAT(kernel.match().reason, HasSubstr("; the fastest of 2 configs that took turns here"));
  EXPECT_EQ(launch(kernel), 128U);
  const std::uint64_t before = test::allocations_of_this_thread();
  launch(kernel);
  EXPECT_EQ(test::allocations_of_this_thread(), before);
}

TEST_F(UntunedSize, KeepsTheWinnerForLaterProcesses) {
  settle(prepare(Untuned::race, "n=2000000"));
  for (const Untuned untuned : {Untuned::race, Untuned::ready, Untuned::wait}) {
    const Launcher::Kernel again = prepare(untuned, "n=2000000");
    EXPECT_FALSE(again.is_settling());
    EXPECT_EQ(launch(again), 128U);
    EXPECT_THAT(again.match().reason, HasSubstr("took turns here"));
  }
}

TEST_F(UntunedSize, LeavesTunedProblemsAlone) {
  const Launcher::Kernel kernel = prepare(Untuned::race, "n=100000");
  EXPECT_FALSE(kernel.is_settling());
  EXPECT_EQ(launch(kernel), 128U);
}

// A capture gets the config of the moment, loads nothing and is not timed.
TEST_F(UntunedSize, IsNotRacedInCaptures) {
  const Launcher::Kernel kernel = prepare(Untuned::race, "n=2000000");
  kernel.prepare_queue(&stream_).value();
  test::cuda_stub_capture(&stream_);
  const std::uint64_t before = test::allocations_of_this_thread();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(launch(kernel), 512U);
  EXPECT_EQ(test::allocations_of_this_thread(), before);
  EXPECT_TRUE(kernel.is_settling());
  test::cuda_stub_capture(nullptr);
  settle(kernel);
  EXPECT_EQ(launch(kernel), 128U);
}

TEST_F(UntunedSize, EndsItsRaceWithItsQueue) {
  const Launcher::Kernel kernel = prepare(Untuned::race, "n=2000000");
  launch(kernel);
  launcher_->forget_queue(&stream_).value();
  EXPECT_FALSE(kernel.is_settling());
  EXPECT_EQ(launch(kernel), 512U);
}

TEST_F(UntunedSize, IsSettledWhenTheLauncherIsGone) {
  const Launcher::Kernel kernel = prepare(Untuned::race, "n=2000000");
  launcher_.reset();
  settle(kernel);
  EXPECT_EQ(launch(kernel), 512U);
}

TEST_F(UntunedSize, IsRacedFromManyThreads) {
  const Launcher::Kernel kernel = prepare(Untuned::race, "n=2000000");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      alignas(16) char stream = 0;
      for (int k = 0; k < 300; ++k) {
        kernel
            .launch(k % 2 == 0 ? &stream_ : &stream,
                    {memory("in", in_.data(), in_.size() * sizeof(float)),
                     memory("out", out_.data(), sizeof(float))})
            .value();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  settle(kernel);
  EXPECT_EQ(launch(kernel), 128U);
}

// A wrong argument is the caller's mistake: no config is left out for it.
TEST_F(UntunedSize, BlamesNoConfigForAWrongArgument) {
  const Launcher::Kernel kernel = prepare(Untuned::race, "n=2000000");
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(test::error_text(kernel.launch(&stream_, {memory("in", in_.data(), 8)})),
                HasSubstr("argument 'in' needs"));
    launch(kernel);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  settle(kernel);
  EXPECT_EQ(launch(kernel), 128U);
}

// The application's OpenCL queue was made without profiling.
TEST(UntunedSizeOnOpenCl, TakesTheExpectedConfigWhereNothingIsTimed) {
  test::LauncherFolder folder;
  for (const auto& [n, block] : {std::pair(100000, 128), std::pair(3200000, 256)}) {
    test::store_best(folder / "kiln.db", {"reduce", "n=" + std::to_string(n),
                                          R"({"n":)" + std::to_string(n) + "}", ticket(block)});
  }
  Launcher::Options options = folder.options();
  options.untuned = Untuned::race;
  const Launcher launcher(options);
  const Launcher::Kernel kernel = launcher.prepare("reduce", "n=2000000").value();
  auto& application = test::OpenClApplication::instance();
  const cl_mem in = application.upload(std::vector<float>(2000000, 1.0F));
  const cl_mem out = application.allocate(sizeof(float));
  for (int i = 0; i < 2; ++i) {
    kernel
        .launch(application.queue(), {memory("in", in, 8000000), memory("out", out, sizeof(float))})
        .value();
  }
  EXPECT_EQ(application.download<float>(out, 1).at(0), 2000000.0F);
  EXPECT_FALSE(kernel.is_settling());
  EXPECT_THAT(kernel.match().config, HasSubstr("block_size=256"));
  EXPECT_THAT(kernel.match().reason,
              HasSubstr("nothing was timed here: the queue was made without"));
}

}  // namespace
}  // namespace kiln
