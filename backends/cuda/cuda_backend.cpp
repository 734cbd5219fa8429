// Finding devices, and making compilers and devices for them.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda_backend.hpp"

#include <utility>

#include <fmt/format.h>

#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/cuda_device.hpp"
#include "backends/cuda/cuda_devices.hpp"
#include "backends/cuda/nvrtc_compiler.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

/// The device of `context`; the driver only tells for the current one.
int ordinal_of(void* context) {
  int device = 0;
  void* popped = nullptr;
  int code = cuda().context_push(context);
  if (code == 0) {
    code = cuda().context_get_device(&device);
    cuda().context_pop(&popped);
  }
  if (code != 0) throw DeviceError(cuda_failure(code, "the caller's CUDA context").message);
  return device;
}

class CudaBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  std::string compiler_options() const override { return nvrtc_options(); }

  std::vector<DeviceInfo> devices() override { return list_cuda_devices(); }

  std::unique_ptr<Compiler> open_compiler(const DeviceInfo& target) override {
    return make_nvrtc_compiler(target.architecture);
  }

  std::unique_ptr<Device> open_device(int ordinal) override {
    return CudaDevice::open(info_of(ordinal));
  }

  std::unique_ptr<Device> attach(const NativeQueue& native) override {
    void* context = native.context;
    if (context == nullptr) cuda().context_get_current(&context);
    if (context == nullptr)
      throw DeviceError("attaching to CUDA needs a context: none was given and none is current");
    return CudaDevice::attach(info_of(ordinal_of(context)), context, native.queue);
  }

 private:
  static DeviceInfo info_of(int ordinal) {
    std::vector<DeviceInfo> devices = list_cuda_devices();
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) {
      throw DeviceError(fmt::format("no device cuda:{}: there are {}", ordinal, devices.size()));
    }
    return std::move(devices[static_cast<std::size_t>(ordinal)]);
  }
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() { return std::make_unique<CudaBackend>(); }

}  // namespace kiln
