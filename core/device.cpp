// Device names and scope, and made-up devices for rendering and compiling without hardware.
// SPDX-License-Identifier: Apache-2.0
#include "core/device.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "core/errors.hpp"
#include "core/last_level_cache.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;

// Calls `add` with the name and value of each entry; every config that is looked at has them in its
// scope, so no list is made on the way.
template <typename Add>
void for_each_scope_entry(const DeviceInfo& device, Add&& add) {
  add("backend", device.backend);
  add("device.vendor", device.vendor);
  add("device.architecture", device.architecture);
  add("device.compute_units", device.compute_units);
  add("device.compute_capability", device.compute_capability);
  add("device.warp_size", device.warp_size);
  add("device.max_threads_per_block", device.max_threads_per_block);
  add("device.max_shared_bytes", device.max_shared_bytes);
  add("device.max_shared_bytes_optin", device.max_shared_bytes_optin);
  add("device.shared_bytes_per_unit", device.shared_bytes_per_unit);
  add("device.registers_per_block", device.registers_per_block);
  add("device.max_threads_per_unit", device.max_threads_per_unit);
  add("device.l2_bytes", device.l2_bytes);
  add("device.last_level_bytes", bytes_to_flush_out(device));
  add("device.global_bytes", device.global_bytes);
  add("device.has_f16", device.has_f16);
  add("device.has_f64", device.has_f64);
  add("device.has_shuffle", device.has_shuffle);
  add("device.has_f32_atomic_add", device.has_f32_atomic_add);
  add("device.is_cpu", device.is_cpu);
  add("device.has_async_copy", has_async_copy(device));
  add("device.has_tensor_maps", has_tensor_maps(device));
  add("device.has_mma", has_mma(device));
  add("device.has_wgmma", has_wgmma(device));
  add("device.has_mfma", has_mfma(device));
  add("device.has_wmma", has_wmma(device));
  add("device.has_fp8", has_fp8(device));
}

// Limits of a well-known part of each architecture. Sources: CUDA C++ Programming Guide, table of
// technical specifications per compute capability; ROCm documentation, GPU hardware specifications.
struct Limits {
  std::string_view architecture;
  std::string_view name;
  std::int64_t compute_units;
  std::int64_t shared_optin;     // bytes per block
  std::int64_t shared_per_unit;  // bytes
  std::int64_t threads_per_unit;
  std::int64_t l2_bytes;
  std::int64_t global_bytes;
  std::int64_t warp_size;
  bool has_f32_atomic_add = true;
};

constexpr Limits kNvidia[] = {
    {"sm_75", "T4", 40, 64 * kKiB, 64 * kKiB, 1024, 4 * kMiB, 16 * kGiB, 32},
    {"sm_80", "A100", 108, 163 * kKiB, 164 * kKiB, 2048, 40 * kMiB, 80 * kGiB, 32},
    {"sm_86", "RTX 3090", 82, 99 * kKiB, 100 * kKiB, 1536, 6 * kMiB, 24 * kGiB, 32},
    {"sm_89", "RTX 4090", 128, 99 * kKiB, 100 * kKiB, 1536, 72 * kMiB, 24 * kGiB, 32},
    {"sm_90", "H200", 132, 227 * kKiB, 228 * kKiB, 2048, 50 * kMiB, 141 * kGiB, 32},
    {"sm_90a", "H200", 132, 227 * kKiB, 228 * kKiB, 2048, 50 * kMiB, 141 * kGiB, 32},
    {"sm_100", "B200", 148, 227 * kKiB, 228 * kKiB, 2048, 126 * kMiB, 180 * kGiB, 32},
    {"sm_100a", "B200", 148, 227 * kKiB, 228 * kKiB, 2048, 126 * kMiB, 180 * kGiB, 32},
    {"sm_120", "RTX 5090", 170, 99 * kKiB, 100 * kKiB, 1536, 96 * kMiB, 32 * kGiB, 32},
};

constexpr Limits kAmd[] = {
    {"gfx900", "Vega 56", 56, 64 * kKiB, 64 * kKiB, 2560, 4 * kMiB, 8 * kGiB, 64, false},
    {"gfx906", "MI50", 60, 64 * kKiB, 64 * kKiB, 2560, 4 * kMiB, 16 * kGiB, 64, false},
    {"gfx908", "MI100", 120, 64 * kKiB, 64 * kKiB, 2560, 8 * kMiB, 32 * kGiB, 64},
    {"gfx90a", "MI250X", 110, 64 * kKiB, 64 * kKiB, 2048, 8 * kMiB, 64 * kGiB, 64},
    {"gfx942", "MI300X", 304, 64 * kKiB, 64 * kKiB, 2048, 4 * kMiB, 192 * kGiB, 64},
    {"gfx950", "MI355X", 256, 160 * kKiB, 160 * kKiB, 2048, 4 * kMiB, 288 * kGiB, 64},
    {"gfx1030", "RX 6800 XT", 36, 64 * kKiB, 64 * kKiB, 2048, 4 * kMiB, 16 * kGiB, 32, false},
    {"gfx1100", "RX 7900 XTX", 48, 64 * kKiB, 64 * kKiB, 2048, 6 * kMiB, 24 * kGiB, 32},
    {"gfx1201", "RX 9070 XT", 32, 64 * kKiB, 64 * kKiB, 2048, 8 * kMiB, 16 * kGiB, 32},
};

DeviceInfo from_limits(const Limits& limits, const std::string& backend) {
  DeviceInfo device;
  device.backend = backend;
  device.name = std::string(limits.name) + " (made up)";
  device.architecture = limits.architecture;
  device.compute_units = limits.compute_units;
  device.warp_size = limits.warp_size;
  device.max_threads_per_block = 1024;
  device.max_shared_bytes_optin = limits.shared_optin;
  device.shared_bytes_per_unit = limits.shared_per_unit;
  device.max_threads_per_unit = limits.threads_per_unit;
  device.l2_bytes = limits.l2_bytes;
  device.global_bytes = limits.global_bytes;
  device.has_f16 = true;
  device.has_f64 = true;
  device.has_shuffle = true;
  return device;
}

// 90 for "sm_90a".
std::int64_t capability_of(std::string_view architecture) {
  std::int64_t number = 0;
  for (const char c : architecture) {
    if (std::isdigit(static_cast<unsigned char>(c))) number = number * 10 + (c - '0');
  }
  return number;
}

DeviceInfo nvidia_device(const Limits& limits) {
  DeviceInfo device = from_limits(limits, "cuda");
  device.vendor = "nvidia";
  device.compute_capability = capability_of(limits.architecture);
  device.max_block = {1024, 1024, 64};
  device.max_shared_bytes = 48 * kKiB;
  device.has_f32_atomic_add = true;
  return device;
}

DeviceInfo amd_device(const Limits& limits) {
  DeviceInfo device = from_limits(limits, "hip");
  device.vendor = "amd";
  device.max_block = {1024, 1024, 1024};
  device.max_grid = {2147483647, 65535, 65535};
  device.max_shared_bytes = 64 * kKiB;
  device.has_f32_atomic_add = limits.has_f32_atomic_add;
  set_amd_last_level(device, device.architecture);
  return device;
}

// The least that a full OpenCL profile promises on a GPU, with double precision.
DeviceInfo opencl_device() {
  DeviceInfo device;
  device.backend = "opencl";
  device.name = "OpenCL device (made up)";
  device.vendor = "generic";
  device.architecture = "opencl";
  device.compute_units = 16;
  device.max_grid = {2147483647, 2147483647, 2147483647};
  device.l2_bytes = 2 * kMiB;
  device.global_bytes = 4 * kGiB;
  device.has_f64 = true;
  return device;
}

template <std::size_t N>
const Limits& find_limits(const Limits (&table)[N], const std::string& backend,
                          const std::string& architecture) {
  std::vector<std::string> names;
  for (const Limits& limits : table) {
    if (limits.architecture == architecture) return limits;
    names.emplace_back(limits.architecture);
  }
  // A well-formed name is of another part, not a slip: the nearest one would be a wrong guess.
  const bool is_well_formed =
      (architecture.starts_with("sm_") || architecture.starts_with("gfx")) &&
      std::isdigit(static_cast<unsigned char>(architecture.back())) != 0;
  throw DeviceError("the limits of " + backend + " architecture '" + architecture +
                    "' are not known" + (is_well_formed ? "" : did_you_mean(architecture, names)) +
                    " (known: " + comma_list(names) + ")");
}

}  // namespace

std::string selector_of(const DeviceInfo& device) {
  return device.backend + ":" + std::to_string(device.ordinal);
}

namespace {

// What identity_of was for all devices before AMD's got units and partition.
std::string short_identity(const DeviceInfo& device) {
  return device.backend + "/" + device.vendor + "/" + device.name + "/" + device.architecture;
}

}  // namespace

std::string identity_of(const DeviceInfo& device) {
  std::string identity = short_identity(device);
  if (device.vendor != "amd" || device.is_cpu) return identity;
  identity += "/" + std::to_string(device.compute_units) + " units";
  if (!device.partition.empty()) identity += "/" + device.partition;
  return identity;
}

std::string current_identity(const std::string& identity, const DeviceInfo& device) {
  return identity == short_identity(device) ? identity_of(device) : identity;
}

std::int64_t max_threads_per_dimension(const DeviceInfo& device) {
  if (device.backend == "hip") return std::numeric_limits<std::uint32_t>::max();
  return std::numeric_limits<std::int64_t>::max();
}

namespace {

bool is_cuda_from(const DeviceInfo& device, std::int64_t capability) {
  return device.backend == "cuda" && device.compute_capability >= capability;
}

bool is_hip_of(const DeviceInfo& device, std::initializer_list<std::string_view> prefixes) {
  return device.backend == "hip" &&
         std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
           return device.architecture.compare(0, prefix.size(), prefix) == 0;
         });
}

}  // namespace

bool has_async_copy(const DeviceInfo& device) { return is_cuda_from(device, 80); }
bool has_tensor_maps(const DeviceInfo& device) { return is_cuda_from(device, 90); }
bool has_mma(const DeviceInfo& device) { return is_cuda_from(device, 80); }
bool has_wgmma(const DeviceInfo& device) {
  return device.backend == "cuda" && device.architecture == "sm_90a";
}
bool has_mfma(const DeviceInfo& device) { return is_hip_of(device, {"gfx90a", "gfx94", "gfx95"}); }
bool has_wmma(const DeviceInfo& device) { return is_hip_of(device, {"gfx11", "gfx12"}); }
bool has_fp8(const DeviceInfo& device) {
  return is_cuda_from(device, 89) || is_hip_of(device, {"gfx94", "gfx95", "gfx12"});
}

void add_to_scope(const DeviceInfo& device, Scope& scope) {
  for_each_scope_entry(device,
                       [&](std::string_view name, const auto& value) { scope.set(name, value); });
}

const std::vector<std::string>& device_scope_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for_each_scope_entry(DeviceInfo{},
                         [&](const char* name, const auto&) { names.emplace_back(name); });
    return names;
  }();
  return kNames;
}

DeviceInfo device_for_architecture(const std::string& backend, const std::string& architecture) {
  if (backend == "cuda") return nvidia_device(find_limits(kNvidia, backend, architecture));
  if (backend == "hip") return amd_device(find_limits(kAmd, backend, architecture));
  if (backend == "opencl") return opencl_device();
  throw DeviceError("there is no backend '" + backend + "' (there are: cuda, hip, opencl)");
}

}  // namespace kiln
