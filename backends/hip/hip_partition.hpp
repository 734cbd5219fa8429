// How an AMD board is split into devices. HIP does not tell; the kernel driver does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kiln {

/// "CPX/NPS4": compute mode and memory mode of the board at `bus_id` ("0000:c1:00.0"), as amdgpu
/// writes them into `pci_devices`/BUS_ID (/sys/bus/pci/devices). Only one of them where the other
/// is not there; empty where neither is, or where `bus_id` is no such id.
[[nodiscard]] std::string read_amd_partition(const std::filesystem::path& pci_devices,
                                             std::string_view bus_id);

}  // namespace kiln
