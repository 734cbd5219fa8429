// Measures the ceilings of a device in a separate worker, for programs that load no driver
// themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "tuner/device/ceilings.hpp"

namespace kiln {

/// Blocks for a few seconds. Throws DeviceError when the device cannot be opened or measured, with
/// the reason. `worker_program` as in TuneOptions.
[[nodiscard]] Ceilings measure_device_ceilings(const std::string& backend, int ordinal,
                                               const std::filesystem::path& worker_program = {});

}  // namespace kiln
