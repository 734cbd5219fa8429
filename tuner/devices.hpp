// Which devices are there? Asked in short-lived workers, one a backend.
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
  std::string unavailable;  ///< why there are none; empty when there are
};

/// All backends that were built in, in order of preference. A backend whose driver crashes or hangs
/// is unavailable for that reason. `worker_program` as in TuneOptions.
[[nodiscard]] std::vector<BackendDevices> list_devices(
    const std::filesystem::path& worker_program = {});

}  // namespace kiln
