// What is HIP's own about devices (StreamDevice does the rest), and the backend that makes them.
// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/hip_backend.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backends/hip/hip_api.hpp"
#include "backends/hip/hip_devices.hpp"
#include "backends/hip/hiprtc_compiler.hpp"
#include "backends/stream_device.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

class HipDevice final : public StreamDevice {
 public:
  static std::unique_ptr<HipDevice> open(DeviceInfo info) {
    auto device = std::make_unique<HipDevice>(std::move(info));
    device->open_stream();
    return device;
  }
  static std::unique_ptr<HipDevice> attach(DeviceInfo info, void* stream) {
    auto device = std::make_unique<HipDevice>(std::move(info));
    device->adopt_stream(stream);
    return device;
  }

  explicit HipDevice(DeviceInfo info) : StreamDevice(hip().stream, std::move(info)) {}
  ~HipDevice() override { close(); }

 protected:
  /// The ordinal that was current.
  int enter() override {
    int before = 0;
    if (hip().get_device(&before) != 0) before = info().ordinal;
    if (before != info().ordinal) hip().set_device(info().ordinal);
    return before;
  }
  void leave(int before) override {
    if (before != info().ordinal) hip().set_device(before);
  }

  bool is_loadable(std::span<const std::byte> image) const override {
    // Newer hipRTC wraps the code object into a bundle.
    constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";
    const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
    return StreamDevice::is_loadable(image) || text.starts_with(kBundle);
  }

  Failure failure_of(int code, std::string_view call, Outcome otherwise) const override {
    return hip_failure(code, call, otherwise);
  }

  Status inspect(Kernel&) override { return Done{}; }

  /// All shared memory that the device has can be asked for at any launch; more of it, or more
  /// threads than the device allows, is refused here, because the runtime's own answers differ
  /// between versions.
  Status prepare(Kernel& kernel, const Launch& launch) override {
    if (launch.cluster != std::array<std::uint32_t, 3>{1, 1, 1}) {
      return Failure{Outcome::launch_error, "HIP has no block clusters"};
    }
    if (takes_tensor_maps(launch)) {
      return Failure{Outcome::launch_error, "HIP has no tensor maps"};
    }
    if (launch.shared_bytes > info().max_shared_bytes) {
      return Failure{Outcome::launch_error,
                     fmt::format("{} bytes of shared memory for '{}': the device has {}",
                                 launch.shared_bytes, kernel.name, info().max_shared_bytes)};
    }
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > info().max_threads_per_block) {
      return Failure{Outcome::launch_error,
                     fmt::format("block of {} threads for '{}': the device allows {}", threads,
                                 kernel.name, info().max_threads_per_block)};
    }
    return Done{};
  }
};

class HipBackend final : public Backend {
 public:
  std::string_view name() const override { return "hip"; }
  std::string compiler_options() const override { return hiprtc_options(); }

  std::vector<DeviceInfo> devices() override { return list_hip_devices(); }

  std::unique_ptr<Compiler> open_compiler(const DeviceInfo& target) override {
    return make_hiprtc_compiler(target.architecture);
  }

  std::unique_ptr<Device> open_device(int ordinal) override {
    return HipDevice::open(info_of(ordinal));
  }

  /// On the device that is current for this thread: HIP streams do not tell theirs in all versions.
  std::unique_ptr<Device> attach(const NativeQueue& native) override {
    int current = 0;
    const int code = hip().get_device(&current);
    if (code != 0) throw DeviceError(hip_failure(code, "hipGetDevice").message);
    return HipDevice::attach(info_of(current), native.queue);
  }

 private:
  static DeviceInfo info_of(int ordinal) {
    std::vector<DeviceInfo> devices = list_hip_devices();
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) {
      throw DeviceError(fmt::format("no device hip:{}: there are {}", ordinal, devices.size()));
    }
    return std::move(devices[static_cast<std::size_t>(ordinal)]);
  }
};

}  // namespace

std::unique_ptr<Backend> make_hip_backend() { return std::make_unique<HipBackend>(); }

}  // namespace kiln
