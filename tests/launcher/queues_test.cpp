// What launches that run at the same time must not share: constants are part of a program's memory.
// SPDX-License-Identifier: Apache-2.0
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

}  // namespace
}  // namespace kiln
