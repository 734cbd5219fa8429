// The clock of an NVIDIA GPU and whether it is held back, from NVML, where that is installed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/backend.hpp"

namespace kiln {

/// One GPU, found by its PCI bus id ("0000:18:00.0"). Everything stays zero without NVML.
class NvmlDevice {
 public:
  explicit NvmlDevice(const std::string& pci_bus_id);
  [[nodiscard]] Device::ClockState clock_state() const;

 private:
  void* handle_ = nullptr;
};

}  // namespace kiln
