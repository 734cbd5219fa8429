// The HIP devices of this machine as DeviceInfo.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"

namespace kiln {

/// All devices, in the runtime's order. Throws DeviceError when there is none.
[[nodiscard]] std::vector<DeviceInfo> list_hip_devices();

/// The architecture in a hipDeviceProp_t whose layout is not known: the text after the device's
/// name that reads "gfx90a:sramecc+:xnack-" or one of `known`; without its features. Empty when
/// there is none.
[[nodiscard]] std::string find_architecture(std::span<const char> properties,
                                            const std::vector<std::string>& known);

}  // namespace kiln
