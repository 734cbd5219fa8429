// libnvidia-ml, optional.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/nvml.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/dynamic_library.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

struct NvmlApi {
  int (*init)() = nullptr;
  int (*get_handle)(const char* pci_bus_id, void** device) = nullptr;
  int (*get_clock)(void* device, int type, unsigned* megahertz) = nullptr;
  int (*get_throttle_reasons)(void* device, unsigned long long* reasons) = nullptr;
  // Boards and drivers differ in whether they have these.
  int (*get_temperature)(void* device, int sensor, unsigned* celsius) = nullptr;
  int (*get_power)(void* device, unsigned* milliwatts) = nullptr;
  int (*get_energy)(void* device, unsigned long long* millijoules) = nullptr;
};

constexpr int kClockSm = 1;         // NVML_CLOCK_SM
constexpr int kClockMemory = 2;     // NVML_CLOCK_MEM
constexpr int kTemperatureGpu = 0;  // NVML_TEMPERATURE_GPU

// Reasons that slow a kernel down against its neighbour. Idle clocks, clocks set by the user and
// synchronised boards are no throttling.
struct Reason {
  unsigned long long bit;
  std::string_view word;
};
constexpr std::array kReasons = {Reason{0x04, "power_cap"}, Reason{0x08, "slowdown"},
                                 Reason{0x20, "heat"}, Reason{0x40, "hardware_heat"},
                                 Reason{0x80, "power_brake"}};

/// The library, or why there is none.
struct Nvml {
  std::optional<NvmlApi> api;
  std::string unavailable;
};

Nvml load_nvml() {
  try {
    const DynamicLibrary library("NVML",
                                 library_candidates("KILN_NVML_LIBRARY", {"libnvidia-ml.so.1"}));
    NvmlApi api;
    library.bind(api.init, "nvmlInit_v2");
    library.bind(api.get_handle, "nvmlDeviceGetHandleByPciBusId_v2");
    library.bind(api.get_clock, "nvmlDeviceGetClockInfo");
    library.bind(api.get_throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    library.bind_optional(api.get_temperature, "nvmlDeviceGetTemperature");
    library.bind_optional(api.get_power, "nvmlDeviceGetPowerUsage");
    library.bind_optional(api.get_energy, "nvmlDeviceGetTotalEnergyConsumption");
    if (const int code = api.init(); code != 0) {
      return {std::nullopt, fmt::format("unavailable: NVML does not start (error {})", code)};
    }
    return {api, ""};
  } catch (const DeviceError& error) {
    return {std::nullopt, error.what()};
  }
}

const Nvml& nvml() {
  static const Nvml kNvml = load_nvml();
  return kNvml;
}

const NvmlApi& api() { return *nvml().api; }

std::int64_t clock_khz(void* device, int type) {
  unsigned megahertz = 0;
  return api().get_clock(device, type, &megahertz) == 0 ? std::int64_t{megahertz} * 1000 : 0;
}

}  // namespace

std::string throttle_text(unsigned long long reasons) {
  std::string text;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    if (!text.empty()) text += ',';
    text += reason.word;
  }
  return text.empty() ? "none" : text;
}

NvmlDevice::NvmlDevice(const std::string& pci_bus_id) : energy_unavailable_(nvml().unavailable) {
  if (!nvml().api) return;
  if (const int code = api().get_handle(pci_bus_id.c_str(), &handle_); code != 0) {
    handle_ = nullptr;
    energy_unavailable_ =
        fmt::format("NVML does not know the device {} (error {})", pci_bus_id, code);
    return;
  }
  counts_energy_ = counted_j().has_value();
  if (!counts_energy_ && !power_w()) {
    energy_unavailable_ = "NVML reports neither energy nor power for this device";
  }
}

Device::ClockState NvmlDevice::clock_state() const {
  Device::ClockState state;
  if (handle_ == nullptr) return state;
  state.clock_khz = clock_khz(handle_, kClockSm);
  state.memory_clock_khz = clock_khz(handle_, kClockMemory);
  unsigned number = 0;
  if (api().get_temperature != nullptr &&
      api().get_temperature(handle_, kTemperatureGpu, &number) == 0) {
    state.temperature_c = number;
  }
  if (api().get_power != nullptr && api().get_power(handle_, &number) == 0) state.power_mw = number;
  unsigned long long reasons = 0;
  if (api().get_throttle_reasons(handle_, &reasons) == 0) {
    state.throttle = throttle_text(reasons);
    state.throttled = state.throttle != "none";
  }
  return state;
}

std::optional<double> NvmlDevice::counted_j() const {
  unsigned long long millijoules = 0;
  if (api().get_energy == nullptr || api().get_energy(handle_, &millijoules) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(millijoules) * 1e-3;
}

std::optional<double> NvmlDevice::power_w() const {
  unsigned milliwatts = 0;
  if (api().get_power == nullptr || api().get_power(handle_, &milliwatts) != 0) return std::nullopt;
  return milliwatts * 1e-3;
}

std::optional<double> NvmlDevice::energy_j() {
  if (!energy_unavailable_.empty()) return std::nullopt;
  if (counts_energy_) return counted_j();
  const std::optional<double> watts = power_w();
  if (!watts) return std::nullopt;
  const Power now = {Clock::now(), *watts};
  if (last_power_) {
    const double seconds = std::chrono::duration<double>(now.at - last_power_->at).count();
    summed_j_ += seconds * (now.watts + last_power_->watts) / 2;
  }
  last_power_ = now;
  return summed_j_;
}

}  // namespace kiln
