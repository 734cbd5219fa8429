// Kernels with tensor maps in the launcher: a map is encoded when its memory moves and at no other
// time, and the kernel gets the map of the memory that it was launched with.
//
// The driver is the one without a GPU (tests/support/cuda_stub.cpp): its maps begin with the
// address that they describe.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kiln/launcher.hpp>

#include "tests/launcher/cuda_stub.hpp"
#include "tests/launcher/opencl_application.hpp"
#include "tests/support/allocation_counter.hpp"

namespace kiln {
namespace {

using test::allocations_of_this_thread;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace kiln
