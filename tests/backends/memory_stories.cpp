// Stories of device memory that hold for every backend: windows, fills and copies, limits, fences.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "tests/backends/stories.hpp"

namespace kiln {

Status BackendStory::read_behind_a_fence() {
  const std::unique_ptr<Module> module =
      load("KERNEL copy(GLOBAL const int* in, GLOBAL int* out) { out[0] = in[64]; }\n", {"copy"});
  if (module == nullptr) return Failure{Outcome::launch_error, "no module"};
  const Result<Buffer> fenced = device_->allocate_fenced(256);
  if (!fenced) return fenced.failure();
  const std::array arguments = {argument(*fenced), argument(upload(std::vector<int>{0}))};
  Launch launch = launch_of(module.get(), "copy", arguments);
  if (Status status = device_->launch(launch); !status) return status;
  return device_->synchronize();
}

namespace {

TEST_F(BackendStory, AKernelSeesAWindowOfABuffer) {
  const std::unique_ptr<Module> module = load(kAddStory, {"add"});
  ASSERT_NE(module, nullptr);
  const std::size_t guard = 1024;  // floats on both sides
  const Buffer whole = upload(std::vector<float>(2 * guard + 4, -1.0F));
  const Buffer window{whole.handle, 4 * sizeof(float), guard * sizeof(float)};
  const Buffer ones = upload(std::vector<float>{1, 1, 1, 1});
  const std::array arguments = {argument(ones), argument(ones), argument(window), scalar(4)};
  Launch launch = launch_of(module.get(), "add", arguments, {4, 1, 1});
  const Status status = device_->launch(launch);
  ASSERT_TRUE(status) << status.failure().message;

  std::vector<float> expected(2 * guard + 4, -1.0F);
  std::fill_n(expected.begin() + guard, 4, 2.0F);
  EXPECT_EQ(download<float>(whole, expected.size()), expected);
  EXPECT_EQ(download<float>(window, 4), (std::vector<float>{2, 2, 2, 2}));
}

TEST_F(BackendStory, BuffersAreFilledAndCopiedAtAnyByte) {
  const Buffer buffer = upload(std::vector<std::uint8_t>(40, 1));
  ASSERT_TRUE(device_->fill(buffer, 3, 17, 0xAB));
  const Buffer other = upload(std::vector<std::uint8_t>(40, 2));
  ASSERT_TRUE(device_->copy(buffer, 2, other, 20, 3));
  ASSERT_TRUE(device_->synchronize());

  std::vector<std::uint8_t> filled(40, 1);
  std::fill_n(filled.begin() + 3, 17, std::uint8_t{0xAB});
  EXPECT_EQ(download<std::uint8_t>(buffer, 40), filled);
  std::vector<std::uint8_t> copied(40, 2);
  copied[20] = 1;
  copied[21] = copied[22] = 0xAB;
  EXPECT_EQ(download<std::uint8_t>(other, 40), copied);
}

TEST_F(BackendStory, EmptyBuffersAndTransfersAreFine) {
  Result<Buffer> nothing = device_->allocate(0);
  ASSERT_TRUE(nothing) << nothing.failure().message;
  EXPECT_EQ(nothing->bytes, 0U);
  EXPECT_TRUE(device_->upload(*nothing, 0, {}));
  EXPECT_TRUE(device_->download(*nothing, 0, {}));
  EXPECT_TRUE(device_->fill(*nothing, 0, 0, 0));
  EXPECT_TRUE(device_->copy(*nothing, 0, *nothing, 0, 0));
  device_->release(*nothing);
}

TEST_F(BackendStory, TooLargeABufferIsOutOfMemory) {
  const Result<Buffer> buffer = device_->allocate(std::size_t{1} << 50);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.failure().outcome, Outcome::out_of_memory);
  EXPECT_FALSE(buffer.failure().sticky);
  EXPECT_TRUE(device_->allocate(4096));
}

TEST_F(BackendStory, FencedMemoryIsUsedLikeAnyOther) {
  const Result<Buffer> fenced = device_->allocate_fenced(1000);
  if (!fenced) {
    EXPECT_FALSE(fenced.failure().sticky);
    EXPECT_TRUE(device_->info().backend != "cuda" && !device_->info().is_cpu);
    GTEST_SKIP() << fenced.failure().message;
  }
  EXPECT_EQ(fenced->bytes, 1024U);
  const std::unique_ptr<Module> module = load(kAddStory, {"add"});
  ASSERT_NE(module, nullptr);
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0F);
  ASSERT_TRUE(device_->upload(*fenced, 0, std::as_bytes(std::span(values))));
  const Buffer sums = upload(std::vector<float>(256));
  const std::array arguments = {argument(*fenced), argument(*fenced), argument(sums), scalar(256)};
  Launch launch = launch_of(module.get(), "add", arguments, {64, 1, 1}, {4, 1, 1});
  ASSERT_TRUE(device_->launch(launch));
  EXPECT_EQ(download<float>(sums, 256)[255], 510.0F);
  device_->release(*fenced);
  const Result<Buffer> again = device_->allocate_fenced(1);
  ASSERT_TRUE(again) << again.failure().message;
  EXPECT_EQ(again->bytes, 256U);
}

TEST_F(BackendStory, ReleasedMemoryCanBeHadAgain) {
  const auto half = static_cast<std::size_t>(device_->info().global_bytes / 3);
  for (int round = 0; round < 4; ++round) {
    const Result<Buffer> buffer = device_->allocate(std::min(half, std::size_t{1} << 30));
    ASSERT_TRUE(buffer) << "round " << round << ": " << buffer.failure().message;
    device_->release(*buffer);
  }
}

}  // namespace
}  // namespace kiln
