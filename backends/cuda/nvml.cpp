// libnvidia-ml, optional.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvml.hpp"

#include <array>
#include <optional>

#include "backends/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

struct NvmlApi {
  int (*init)() = nullptr;
  int (*get_handle)(const char* pci_bus_id, void** device) = nullptr;
  int (*get_clock)(void* device, int type, unsigned* megahertz) = nullptr;
  int (*get_throttle_reasons)(void* device, unsigned long long* reasons) = nullptr;
};

constexpr int kClockSm = 1;  // NVML_CLOCK_SM

// Reasons that slow a kernel down against its neighbour: power cap, hardware slowdown, heat, power
// brake. Idle clocks, clocks set by the user and synchronised boards are no throttling.
constexpr unsigned long long kThrottleReasons = 0x04 | 0x08 | 0x20 | 0x40 | 0x80;

std::optional<NvmlApi> load_nvml() {
  try {
    const std::array<std::string, 1> names = {"libnvidia-ml.so.1"};
    const DynamicLibrary library("NVML", names);
    NvmlApi api;
    library.bind(api.init, "nvmlInit_v2");
    library.bind(api.get_handle, "nvmlDeviceGetHandleByPciBusId_v2");
    library.bind(api.get_clock, "nvmlDeviceGetClockInfo");
    library.bind(api.get_throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (api.init() != 0) return std::nullopt;
    return api;
  } catch (const DeviceError&) {
    return std::nullopt;  // clocks are not known then
  }
}

const std::optional<NvmlApi>& nvml() {
  static const std::optional<NvmlApi> kApi = load_nvml();
  return kApi;
}

}  // namespace

NvmlDevice::NvmlDevice(const std::string& pci_bus_id) {
  if (nvml() && nvml()->get_handle(pci_bus_id.c_str(), &handle_) != 0) handle_ = nullptr;
}

Device::ClockState NvmlDevice::clock_state() const {
  Device::ClockState state;
  if (handle_ == nullptr) return state;
  unsigned megahertz = 0;
  if (nvml()->get_clock(handle_, kClockSm, &megahertz) == 0)
    state.clock_khz = std::int64_t{megahertz} * 1000;
  unsigned long long reasons = 0;
  if (nvml()->get_throttle_reasons(handle_, &reasons) == 0)
    state.throttled = (reasons & kThrottleReasons) != 0;
  return state;
}

}  // namespace kiln
