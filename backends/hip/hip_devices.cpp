// Device attributes, and the translation into Kiln's words.
// SPDX-License-Identifier: Apache-2.0
#include "backends/hip/hip_devices.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "backends/hip/hip_api.hpp"
#include "backends/hip/hip_partition.hpp"
#include "backends/hip/hiprtc_compiler.hpp"
#include "backends/last_level_override.hpp"
#include "core/errors.hpp"
#include "core/last_level_cache.hpp"

namespace kiln {
namespace {

constexpr std::size_t kNameBytes = 256;  // hipDeviceProp_t starts with the name, in all layouts
constexpr std::size_t kPropertiesBytes = 16 * 1024;  // several times the largest layout

constexpr int kOldestVersion = 50'000'000;  // 5.0: attributes were numbered differently before

void check_hip(int code, std::string_view call) {
  if (code != 0) throw DeviceError("unavailable: " + hip_failure(code, call).message);
}

/// The attribute, or `otherwise` where the runtime does not have it or says 0.
std::int64_t hip_attribute(int device, HipDeviceAttribute which, std::int64_t otherwise) {
  int value = 0;
  if (hip().device_get_attribute(&value, static_cast<int>(which), device) != 0 || value <= 0)
    return otherwise;
  return value;
}

std::vector<std::string> known_to_compiler() {
  try {
    return hiprtc().architectures;
  } catch (const DeviceError&) {
    return {};
  }
}

std::string architecture_of(int device) {
  std::vector<char> properties(kPropertiesBytes, '\0');
  check_hip(hip().get_device_properties(properties.data(), device), "hipGetDeviceProperties");
  const std::string architecture = find_architecture(properties, known_to_compiler());
  if (architecture.empty())
    throw DeviceError(fmt::format("unavailable: HIP does not say what device {} is", device));
  return architecture;
}

/// gfx908 and later data centre GPUs, and gfx11 on, add floats in the cache; the others loop.
bool has_float_atomics(std::string_view architecture) {
  constexpr std::array<std::string_view, 6> kWith = {"gfx908", "gfx90a", "gfx94",
                                                     "gfx95",  "gfx11",  "gfx12"};
  return std::any_of(kWith.begin(), kWith.end(),
                     [&](std::string_view with) { return architecture.starts_with(with); });
}

void add_hip_limits(int device, DeviceInfo& info) {
  using enum HipDeviceAttribute;
  info.compute_units = hip_attribute(device, multiprocessor_count, info.compute_units);
  info.warp_size = hip_attribute(device, warp_size, 0);
  if (info.warp_size != 32 && info.warp_size != 64) {
    throw DeviceError(fmt::format(
        "unavailable: HIP {} numbers its attributes in an unknown way (wavefront of {})",
        info.runtime, info.warp_size));
  }
  info.max_threads_per_block =
      hip_attribute(device, max_threads_per_block, info.max_threads_per_block);
  info.max_block = {hip_attribute(device, max_block_x, 256),
                    hip_attribute(device, max_block_y, 256),
                    hip_attribute(device, max_block_z, 256)};
  info.max_grid = {hip_attribute(device, max_grid_x, 65535),
                   hip_attribute(device, max_grid_y, 65535),
                   hip_attribute(device, max_grid_z, 65535)};
  info.max_shared_bytes = hip_attribute(device, max_shared_bytes, info.max_shared_bytes);
  info.max_shared_bytes_optin = info.max_shared_bytes;  // there is nothing to opt in to
  info.shared_bytes_per_unit =
      hip_attribute(device, shared_bytes_per_multiprocessor, info.max_shared_bytes);
  info.registers_per_block =
      hip_attribute(device, max_registers_per_block, info.registers_per_block);
  info.max_threads_per_unit =
      hip_attribute(device, max_threads_per_multiprocessor, info.max_threads_per_unit);
  info.l2_bytes = hip_attribute(device, l2_bytes, 0);
  info.clock_khz = hip_attribute(device, clock_khz, 0);
  info.memory_clock_khz = hip_attribute(device, memory_clock_khz, 0);
  info.memory_bus_bits = hip_attribute(device, memory_bus_bits, 0);
  set_amd_last_level(info, info.architecture);
}

std::string partition_of(int device) {
  constexpr std::size_t kBusIdBytes = 64;
  std::array<char, kBusIdBytes> id{};
  if (hip().device_get_pci_bus_id(id.data(), static_cast<int>(id.size()), device) != 0) return {};
  return read_amd_partition("/sys/bus/pci/devices", id.data());
}

DeviceInfo describe_hip(int device, int version) {
  std::array<char, kNameBytes> name{};
  check_hip(hip().device_get_name(name.data(), static_cast<int>(name.size()), device),
            "hipDeviceGetName");
  std::size_t global_bytes = 0;
  check_hip(hip().device_total_mem(&global_bytes, device), "hipDeviceTotalMem");
  int driver = 0;
  hip().driver_get_version(&driver);

  DeviceInfo info;
  info.backend = "hip";
  info.ordinal = device;
  info.name = name.data();
  info.architecture = architecture_of(device);
  info.vendor = info.architecture.starts_with("sm_") ? "nvidia" : "amd";
  info.driver = hip_version_text(driver);
  info.runtime = "HIP " + hip_version_text(version);
  info.compiler = hiprtc_version_text();
  info.global_bytes = static_cast<std::int64_t>(global_bytes);
  info.partition = partition_of(device);
  add_hip_limits(device, info);
  override_last_level(info);
  info.has_f16 = true;
  info.has_f64 = true;
  info.has_shuffle = true;
  info.has_f32_atomic_add = info.vendor == "nvidia" || has_float_atomics(info.architecture);
  return info;
}

}  // namespace

std::string find_architecture(std::span<const char> properties,
                              const std::vector<std::string>& known) {
  const std::string_view block(properties.data(), properties.size());
  for (std::size_t at = std::min(kNameBytes, block.size()); at < block.size();) {
    const std::size_t end = std::min(block.find('\0', at), block.size());
    // Numbers before a text may end in bytes that are not zero: look for its start within.
    const std::string_view text = block.substr(at, end - at);
    for (std::size_t start = 0; start < text.size(); ++start) {
      const std::string_view candidate = text.substr(start, text.find(':', start) - start);
      const bool is_known = std::find(known.begin(), known.end(), candidate) != known.end();
      if (is_known || (candidate.starts_with("gfx") && candidate.size() > 5))
        return std::string(candidate);
    }
    at = end + 1;
  }
  return {};
}

std::vector<DeviceInfo> list_hip_devices() {
  int version = 0;
  check_hip(hip().runtime_get_version(&version), "hipRuntimeGetVersion");
  if (version < kOldestVersion) {
    throw DeviceError(fmt::format("unavailable: HIP {} is too old: 5.0 or later is needed",
                                  hip_version_text(version)));
  }
  int count = 0;
  check_hip(hip().get_device_count(&count), "hipGetDeviceCount");
  if (count == 0) throw DeviceError("unavailable: HIP lists no device");
  std::vector<DeviceInfo> devices;
  devices.reserve(static_cast<std::size_t>(count));
  for (int device = 0; device < count; ++device) devices.push_back(describe_hip(device, version));
  return devices;
}

}  // namespace kiln
