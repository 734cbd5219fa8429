// Platforms and devices, and the translation of OpenCL's properties into Kiln's words.
// SPDX-License-Identifier: Apache-2.0
#include "backends/opencl/opencl_devices.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "backends/last_level_override.hpp"
#include "core/errors.hpp"
#include "core/last_level_cache.hpp"

namespace kiln {
namespace {

constexpr cl_device_info kWarpSizeNvidia = 0x4003;         // CL_DEVICE_WARP_SIZE_NV
constexpr cl_device_info kWavefrontWidthAmd = 0x4043;      // CL_DEVICE_WAVEFRONT_WIDTH_AMD
constexpr cl_device_info kCapabilityMajorNvidia = 0x4000;  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
constexpr cl_device_info kCapabilityMinorNvidia = 0x4001;  // CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV

std::string trimmed(std::string text) {
  while (!text.empty() &&
         (text.back() == '\0' || std::isspace(static_cast<unsigned char>(text.back())))) {
    text.pop_back();
  }
  text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string device_text(cl_device_id device, cl_device_info property) {
  std::size_t bytes = 0;
  if (opencl().get_device_info(device, property, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string text(bytes, '\0');
  if (opencl().get_device_info(device, property, bytes, text.data(), nullptr) != CL_SUCCESS)
    return {};
  return trimmed(std::move(text));
}

std::string vendor_word(cl_device_id device, bool is_cpu) {
  if (is_cpu) return "cpu";
  const std::string vendor = lower(device_text(device, CL_DEVICE_VENDOR));
  if (vendor.find("nvidia") != std::string::npos) return "nvidia";
  if (vendor.find("advanced micro") != std::string::npos || vendor.find("amd") != std::string::npos)
    return "amd";
  if (vendor.find("intel") != std::string::npos) return "intel";
  return vendor.substr(0, vendor.find(' '));
}

/// "LLVM 14.0.6" out of PoCL's platform version; empty elsewhere.
std::string llvm_version(const std::string& platform_version) {
  const std::size_t start = platform_version.find("LLVM ");
  if (start == std::string::npos) return {};
  return platform_version.substr(start, platform_version.find(',', start) - start);
}

void add_identity(cl_platform_id platform, cl_device_id device, DeviceInfo& info) {
  info.backend = "opencl";
  info.name = device_text(device, CL_DEVICE_NAME);
  info.is_cpu = (device_property<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  info.vendor = vendor_word(device, info.is_cpu);
  info.architecture = opencl_architecture(info.vendor, info.name);
  info.driver = device_text(device, CL_DRIVER_VERSION);

  const std::string name = platform_text(platform, CL_PLATFORM_NAME);
  const bool is_pocl = name == kPoclName;
  const std::string llvm = llvm_version(platform_text(platform, CL_PLATFORM_VERSION));
  info.runtime = fmt::format("{} {}{}{}", is_pocl ? "PoCL" : name, info.driver,
                             llvm.empty() ? "" : " / ", llvm);
  info.compiler = info.runtime;
}

std::int64_t warp_size(cl_device_id device, const DeviceInfo& info) {
  if (info.is_cpu) return 1;
  const cl_uint nvidia = device_property<cl_uint>(device, kWarpSizeNvidia);
  if (nvidia != 0) return nvidia;
  const cl_uint amd = device_property<cl_uint>(device, kWavefrontWidthAmd);
  return amd != 0 ? amd : 1;
}

std::int64_t last_level_cache_bytes(cl_device_id device, bool is_cpu) {
  const auto reported =
      static_cast<std::int64_t>(device_property<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
  if (!is_cpu) return reported;
  return std::max<std::int64_t>(reported, ::sysconf(_SC_LEVEL3_CACHE_SIZE));
}

void add_opencl_limits(cl_device_id device, DeviceInfo& info) {
  const auto integer = [device]<typename T>(cl_device_info property, T) {
    return static_cast<std::int64_t>(device_property<T>(device, property));
  };
  info.compute_units = integer(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint{});
  info.warp_size = warp_size(device, info);
  if (info.vendor == "nvidia") {
    info.compute_capability = integer(kCapabilityMajorNvidia, cl_uint{}) * 10 +
                              integer(kCapabilityMinorNvidia, cl_uint{});
  }
  info.max_threads_per_block = integer(CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{});
  const auto sizes =
      device_property<std::array<std::size_t, 3>>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  std::transform(sizes.begin(), sizes.end(), info.max_block.begin(),
                 [](std::size_t size) { return static_cast<std::int64_t>(size); });
  info.max_grid.fill(std::numeric_limits<std::int32_t>::max());

  info.max_shared_bytes = integer(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong{});
  info.max_shared_bytes_optin = info.max_shared_bytes;
  info.shared_bytes_per_unit = info.max_shared_bytes;
  info.max_threads_per_unit =
      std::max<std::int64_t>(info.max_threads_per_block, info.is_cpu ? 0 : 2048);
  info.l2_bytes = last_level_cache_bytes(device, info.is_cpu);
  // ROCm's OpenCL calls a device by its architecture and features: "gfx942:sramecc+:xnack-".
  if (info.vendor == "amd" && !info.is_cpu)
    set_amd_last_level(info, std::string_view(info.name).substr(0, info.name.find(':')));
  override_last_level(info);
  info.global_bytes = integer(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong{});
  info.clock_khz = integer(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint{}) * 1000;
}

void add_features(cl_device_id device, DeviceInfo& info) {
  const std::string extensions = " " + device_text(device, CL_DEVICE_EXTENSIONS) + " ";
  const auto has = [&extensions](std::string_view extension) {
    return extensions.find(fmt::format(" {} ", extension)) != std::string::npos;
  };
  info.has_f16 = has("cl_khr_fp16");
  info.has_f64 = has("cl_khr_fp64");
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  if (opencl().get_platform_ids(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    throw DeviceError(
        "unavailable: OpenCL has no platform (no driver is installed: see /etc/OpenCL/vendors)");
  }
  std::vector<cl_platform_id> ids(count);
  opencl().get_platform_ids(count, ids.data(), nullptr);
  return ids;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  if (opencl().get_device_ids(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS)
    return {};
  std::vector<cl_device_id> ids(count);
  if (count > 0) opencl().get_device_ids(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr);
  return ids;
}

}  // namespace

std::string platform_text(cl_platform_id platform, cl_platform_info property) {
  std::size_t bytes = 0;
  if (opencl().get_platform_info(platform, property, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string text(bytes, '\0');
  if (opencl().get_platform_info(platform, property, bytes, text.data(), nullptr) != CL_SUCCESS)
    return {};
  return trimmed(std::move(text));
}

std::string opencl_architecture(std::string_view vendor, std::string_view device_name) {
  std::string slug;
  for (const char c : device_name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return fmt::format("opencl-{}-{}", vendor, slug);
}

std::vector<OpenClDeviceEntry> list_opencl_devices() {
  std::vector<OpenClDeviceEntry> entries;
  for (cl_platform_id platform : platforms()) {
    for (cl_device_id device : devices_of(platform)) {
      OpenClDeviceEntry entry{device, {}};
      entry.info.ordinal = static_cast<int>(entries.size());
      add_identity(platform, device, entry.info);
      add_opencl_limits(device, entry.info);
      add_features(device, entry.info);
      entries.push_back(std::move(entry));
    }
  }
  if (entries.empty()) throw DeviceError("unavailable: OpenCL is installed but lists no device");
  return entries;
}

}  // namespace kiln
