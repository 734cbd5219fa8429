// Words of the dialect that no built-in kernel uses in all their sizes: compiled by each backend's
// compiler, and run where its first device is.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "core/errors.hpp"
#include "templates/prelude.hpp"
#include "tests/backends/required.hpp"

namespace kiln::test {
namespace {

constexpr const char* kConditionalAccess = R"(
KERNEL(32, 1, 1) access(GLOBAL const u32* from, GLOBAL u32* to, i32 yes, i32 no) {
  GLOBAL u32* nothing = (GLOBAL u32*)0;
  if (THREAD_X != 0) return;
  STORE_16_IF(yes, to, LOAD_16_IF(yes, from));
  STORE_8_IF(yes, to + 4, LOAD_8_IF(yes, from + 4));
  STORE_4_IF(yes, to + 6, LOAD_4_IF(yes, from + 6));
  STORE_2_IF(yes, (GLOBAL u16*)(to + 7), LOAD_2_IF(yes, (GLOBAL const u16*)(from + 7)));
  STORE_2_IF(yes, (GLOBAL u16*)(to + 7) + 1, LOAD_2_IF(yes, (GLOBAL const u16*)(from + 7) + 1));
  STORE_16_IF(yes, to + 8, LOAD_16_IF(no, nothing));
  STORE_8_IF(yes, to + 12, LOAD_8_IF(no, nothing));
  STORE_4_IF(yes, to + 14, LOAD_4_IF(no, nothing));
  STORE_2_IF(yes, (GLOBAL u16*)(to + 15), LOAD_2_IF(no, nothing));
  STORE_16_IF(no, nothing, U32X4(1, 2, 3, 4));
  STORE_8_IF(no, nothing, U32X2(1, 2));
  STORE_4_IF(no, nothing, 1);
  STORE_2_IF(no, nothing, 1);
}
)";

class ConditionalAccess : public testing::Test {
 protected:
  void SetUp() override {
    const std::string backend = KILN_TEST_BACKEND;
    backend_ = make_backend(backend);
    try {
      device_ = backend_->open_device(0);
    } catch (const DeviceError&) {
      device_ = nullptr;  // the compiler needs none
    }
    info_ = device_ ? device_->info()
                    : device_for_architecture(backend, backend == "cuda"  ? "sm_90a"
                                                       : backend == "hip" ? "gfx90a"
                                                                          : "opencl");
    try {
      compiler_ = backend_->open_compiler(info_);
    } catch (const DeviceError& error) {
      const char* library = backend == "cuda" ? "nvrtc" : backend == "hip" ? "hiprtc" : "opencl";
      KILN_SKIP_UNLESS_REQUIRED(library, error.what());
    }
  }

  Buffer upload(const std::vector<std::uint32_t>& words) {
    const Result<Buffer> buffer = device_->allocate(words.size() * sizeof(words[0]));
    EXPECT_TRUE(buffer) << buffer.failure().message;
    EXPECT_TRUE(device_->upload(*buffer, 0, std::as_bytes(std::span(words))));
    return *buffer;
  }

  static KernelArgument argument(Buffer buffer) {
    KernelArgument made;
    made.buffer = buffer;
    return made;
  }
  static KernelArgument argument(std::int32_t value) {
    KernelArgument made;
    made.kind = KernelArgument::Kind::scalar;
    std::memcpy(made.scalar.data(), &value, sizeof value);
    made.scalar_bytes = sizeof value;
    return made;
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;  ///< nullptr: only compiled
  DeviceInfo info_;
  std::unique_ptr<Compiler> compiler_;
};

TEST_F(ConditionalAccess, ReadsAndWritesWhereItIsAskedToAndNowhereElse) {
  Source source;
  source.name = "access";
  source.text = prelude_for(info_.backend, kConditionalAccess, info_.warp_size);
  source.text += kConditionalAccess;
  source.entries = {"access"};
  const Result<Binary> binary = compiler_->compile(source);
  ASSERT_TRUE(binary) << binary.failure().message;
  if (!device_) return;

  const Result<std::unique_ptr<Module>> module = device_->load(*binary);
  ASSERT_TRUE(module) << module.failure().message;
  const std::vector<std::uint32_t> from = {11, 12, 13, 14, 15, 16, 17, 0x12345678};
  const Buffer to = upload(std::vector<std::uint32_t>(17, 0xEEEEEEEE));
  const std::array arguments = {argument(upload(from)), argument(to), argument(1), argument(0)};
  Launch launch;
  launch.module = module->get();
  launch.entry = "access";
  launch.block = {32, 1, 1};
  launch.arguments = arguments;
  const Status status = device_->launch(launch);
  ASSERT_TRUE(status) << status.failure().message;

  std::vector<std::uint32_t> expected = from;
  expected.insert(expected.end(), {0, 0, 0, 0, 0, 0, 0, 0xEEEE0000, 0xEEEEEEEE});
  std::vector<std::uint32_t> got(expected.size());
  ASSERT_TRUE(device_->download(to, 0, std::as_writable_bytes(std::span(got))));
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace kiln::test
