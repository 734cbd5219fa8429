// Words of the dialect in a small kernel: compiled by each backend's compiler, and run where its
// first device is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

class WordsTest : public testing::Test {
 protected:
  void SetUp() override {
    backend_ = make_backend(name_);
    try {
      device_ = backend_->open_device(0);
    } catch (const DeviceError&) {
      device_ = nullptr;  // the compiler needs none
    }
    const char* architecture = name_ == "cuda" ? "sm_90a" : name_ == "hip" ? "gfx90a" : "opencl";
    info_ = device_ ? device_->info() : device_for_architecture(name_, architecture);
    try {
      compiler_ = backend_->open_compiler(info_);
    } catch (const DeviceError& error) {
      const char* library = name_ == "cuda" ? "nvrtc" : name_ == "hip" ? "hiprtc" : "opencl";
      KILN_SKIP_UNLESS_REQUIRED(library, error.what());
    }
  }

  /// `kernel`, whose entry is `entry`, with the words it uses in front.
  static Source source_of(const std::string& kernel, const std::string& entry,
                          const DeviceInfo& device) {
    Source source;
    source.name = entry;
    source.text = prelude_for(device.backend, kernel, device.warp_size) + kernel;
    source.entries = {entry};
    return source;
  }

  /// Runs the only entry of `binary` in one block of `threads`.
  void run(const Binary& binary, const std::string& entry, std::uint32_t threads,
           std::span<const KernelArgument> arguments) {
    const Result<std::unique_ptr<Module>> module = device_->load(binary);
    ASSERT_TRUE(module) << module.failure().message;
    Launch launch;
    launch.module = module->get();
    launch.entry = entry;
    launch.block = {threads, 1, 1};
    launch.arguments = arguments;
    const Status status = device_->launch(launch);
    ASSERT_TRUE(status) << status.failure().message;
    ASSERT_TRUE(device_->synchronize());
  }

  template <typename T>
  Buffer upload(const std::vector<T>& elements) {
    const Result<Buffer> buffer = device_->allocate(elements.size() * sizeof(T));
    EXPECT_TRUE(buffer) << buffer.failure().message;
    EXPECT_TRUE(device_->upload(*buffer, 0, std::as_bytes(std::span(elements))));
    return *buffer;
  }
  template <typename T>
  std::vector<T> download(const Buffer& buffer, std::size_t count) {
    std::vector<T> elements(count);
    EXPECT_TRUE(device_->download(buffer, 0, std::as_writable_bytes(std::span(elements))));
    return elements;
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

  const std::string name_ = KILN_TEST_BACKEND;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;  ///< nullptr: only compiled
  DeviceInfo info_;
  std::unique_ptr<Compiler> compiler_;
};

}  // namespace kiln::test
