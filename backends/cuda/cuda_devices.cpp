// Device attributes, and the translation into Kiln's words.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda_devices.hpp"

#include <array>
#include <fstream>

#include <fmt/format.h>

#include "backends/cuda/cuda_api.hpp"
#include "backends/cuda/nvrtc_compiler.hpp"
#include "backends/last_level_override.hpp"
#include "core/errors.hpp"

namespace kiln {
namespace {

void check_cuda(int code, std::string_view call) {
  if (code != 0) throw DeviceError("unavailable: " + cuda_failure(code, call).message);
}

int cuda_attribute(int device, CudaDeviceAttribute which) {
  int value = 0;
  check_cuda(cuda().device_get_attribute(&value, static_cast<int>(which), device),
             "cuDeviceGetAttribute");
  return value;
}

/// "580.65.06" where the kernel module tells, otherwise the CUDA version that the driver speaks.
std::string driver_version(const std::string& cuda_version) {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  return std::getline(file, version) && !version.empty() ? version : cuda_version;
}

std::string cuda_version() {
  int version = 0;
  cuda().driver_get_version(&version);
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

DeviceInfo describe_cuda(int ordinal) {
  using enum CudaDeviceAttribute;
  int device = 0;
  check_cuda(cuda().device_get(&device, ordinal), "cuDeviceGet");
  std::array<char, 256> name{};
  check_cuda(cuda().device_get_name(name.data(), static_cast<int>(name.size()), device),
             "cuDeviceGetName");
  std::size_t global_bytes = 0;
  check_cuda(cuda().device_total_mem(&global_bytes, device), "cuDeviceTotalMem");

  DeviceInfo info;
  info.backend = "cuda";
  info.ordinal = ordinal;
  info.name = name.data();
  info.vendor = "nvidia";
  const int capability =
      cuda_attribute(device, capability_major) * 10 + cuda_attribute(device, capability_minor);
  info.compute_capability = capability;
  info.architecture = cuda_architecture(capability);
  info.runtime = cuda_version();
  info.driver = driver_version(info.runtime);
  info.compiler = nvrtc_version_text();

  info.compute_units = cuda_attribute(device, multiprocessor_count);
  info.warp_size = cuda_attribute(device, warp_size);
  info.max_threads_per_block = cuda_attribute(device, max_threads_per_block);
  info.max_block = {cuda_attribute(device, max_block_x), cuda_attribute(device, max_block_y),
                    cuda_attribute(device, max_block_z)};
  info.max_grid = {cuda_attribute(device, max_grid_x), cuda_attribute(device, max_grid_y),
                   cuda_attribute(device, max_grid_z)};
  info.max_shared_bytes = cuda_attribute(device, max_shared_bytes);
  info.max_shared_bytes_optin = cuda_attribute(device, max_shared_bytes_optin);
  info.shared_bytes_per_unit = cuda_attribute(device, shared_bytes_per_multiprocessor);
  info.registers_per_block = cuda_attribute(device, max_registers_per_block);
  info.max_threads_per_unit = cuda_attribute(device, max_threads_per_multiprocessor);
  info.l2_bytes = cuda_attribute(device, l2_bytes);
  info.global_bytes = static_cast<std::int64_t>(global_bytes);
  info.clock_khz = cuda_attribute(device, clock_khz);
  info.memory_clock_khz = cuda_attribute(device, memory_clock_khz);
  info.memory_bus_bits = cuda_attribute(device, memory_bus_bits);
  info.has_f16 = capability >= 53;
  info.has_f64 = true;
  info.has_shuffle = true;
  info.has_f32_atomic_add = true;
  override_last_level(info);
  return info;
}

}  // namespace

std::string cuda_architecture(int capability) {
  return fmt::format("sm_{}{}", capability, capability >= 90 ? "a" : "");
}

std::vector<DeviceInfo> list_cuda_devices() {
  int count = 0;
  check_cuda(cuda().device_get_count(&count), "cuDeviceGetCount");
  if (count == 0) throw DeviceError("unavailable: the CUDA driver lists no device");
  std::vector<DeviceInfo> devices;
  devices.reserve(static_cast<std::size_t>(count));
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(describe_cuda(ordinal));
  return devices;
}

}  // namespace kiln
