// The CUDA devices of this machine as DeviceInfo.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/device.hpp"

namespace kiln {

/// All devices, in the driver's order. Throws DeviceError when there is none.
[[nodiscard]] std::vector<DeviceInfo> list_cuda_devices();

/// "sm_80"; from 9.0 on "sm_90a": the target with the features of exactly this architecture.
[[nodiscard]] std::string cuda_architecture(int capability);

}  // namespace kiln
