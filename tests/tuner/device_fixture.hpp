// The first OpenCL device, opened in the test program itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "backends/backend.hpp"
#include "backends/cached_compiler.hpp"
#include "core/errors.hpp"

namespace kiln {

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    backend_ = make_backend("opencl");
    try {
      device_ = backend_->open_device(0);
      compiler_ = backend_->open_compiler(device_->info());
      compiler_->prepare_for(BinaryUse::once);
      toolbox_compiler_ = std::make_unique<CachedCompiler>(
          backend_->open_compiler(device_->info()), device_->info(), backend_->compiler_options());
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<Compiler> toolbox_compiler_;  ///< of what every test compiles
};

}  // namespace kiln
