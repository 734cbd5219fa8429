// Lists the devices. A short-lived worker per backend looks for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/device.hpp"

namespace kiln {

struct BackendDevices {
  std::string backend;
  std::vector<DeviceInfo> devices;
  std::string unavailable;  ///< why there are no devices; empty if there are
};

/// Returns all backends that were built in, in order of preference. A backend whose driver crashes
/// or hangs is unavailable for that reason. `worker_program` as in TuneOptions.
[[nodiscard]] std::vector<BackendDevices> list_devices(
    const std::filesystem::path& worker_program = {});

}  // namespace kiln
