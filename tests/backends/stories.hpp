// What every backend must do, told once: the fixture that opens a backend, or says why it cannot.
//
// Each test program is one backend (PoCL and hipRTC cannot share a process): KILN_TEST_BACKEND
// names it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "tests/backends/required.hpp"

namespace kiln {

/// The words that the stories' kernels use, as `backend` spells them, and then `kernels`.
[[nodiscard]] Source story_source(std::string_view backend, std::string_view kernels,
                                  std::vector<std::string> entries);

/// Adds two vectors: add(a, b, c, n).
inline constexpr std::string_view kAddStory = R"(
KERNEL add(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* c, int n) {
  int i = BLOCK_X * BLOCK_SIZE_X + THREAD_X;
  if (i < n) c[i] = a[i] + b[i];
}
)";

using Extent = std::array<std::uint32_t, 3>;

[[nodiscard]] inline Launch launch_of(Module* module, std::string_view entry,
                                      std::span<const KernelArgument> arguments,
                                      const Extent& block = {1, 1, 1},
                                      const Extent& grid = {1, 1, 1}) {
  Launch launch;
  launch.module = module;
  launch.entry = entry;
  launch.arguments = arguments;
  launch.block = block;
  launch.grid = grid;
  return launch;
}

/// A device of the backend under test.
class BackendStory : public testing::Test {
 protected:
  void SetUp() override;

  /// Compiles and loads; fails the test and gives nullptr when either fails.
  std::unique_ptr<Module> load(std::string_view kernels, std::vector<std::string> entries);
  /// Of backends whose driver tells how many parameters a kernel has.
  void expect_too_few_arguments_are_refused();

  /// A buffer with the bytes of `values`.
  template <typename T>
  Buffer upload(const std::vector<T>& values) {
    Result<Buffer> buffer = device_->allocate(values.size() * sizeof(T));
    EXPECT_TRUE(buffer) << buffer.failure().message;
    const Status status = device_->upload(*buffer, 0, std::as_bytes(std::span(values)));
    EXPECT_TRUE(status) << status.failure().message;
    return *buffer;
  }

  template <typename T>
  std::vector<T> download(Buffer buffer, std::size_t count) {
    std::vector<T> values(count);
    const Status status = device_->download(buffer, 0, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status) << status.failure().message;
    return values;
  }

  /// Runs a kernel that reads the first word behind the fence of a buffer, and waits for it.
  Status read_behind_a_fence();

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<Device> device_;
};

[[nodiscard]] inline KernelArgument argument(Buffer buffer) {
  KernelArgument made;
  made.buffer = buffer;
  return made;
}

template <typename T>
[[nodiscard]] KernelArgument scalar(T value) {
  KernelArgument made;
  made.kind = KernelArgument::Kind::scalar;
  std::memcpy(made.scalar.data(), &value, sizeof value);
  made.scalar_bytes = sizeof value;
  return made;
}

}  // namespace kiln
