// The OpenCL devices of this machine as DeviceInfo.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/opencl/opencl_api.hpp"
#include "core/device.hpp"

namespace kiln {

struct OpenClDeviceEntry {
  cl_device_id id = nullptr;
  DeviceInfo info;
};

/// All devices of all platforms; the ordinal is the place in this list. Throws DeviceError when
/// there is none.
[[nodiscard]] std::vector<OpenClDeviceEntry> list_opencl_devices();

inline constexpr std::string_view kPoclName = "Portable Computing Language";  ///< of its platform

[[nodiscard]] std::string platform_text(cl_platform_id platform, cl_platform_info property);

/// One property of a device; T{} where the driver does not know it.
template <typename T>
[[nodiscard]] T device_property(cl_device_id device, cl_device_info property) {
  T value{};
  if (opencl().get_device_info(device, property, sizeof value, &value, nullptr) != CL_SUCCESS)
    return T{};
  return value;
}

/// "opencl-cpu-amd-epyc-7b13": lower case, digits and single dashes.
[[nodiscard]] std::string opencl_architecture(std::string_view vendor,
                                              std::string_view device_name);

}  // namespace kiln
