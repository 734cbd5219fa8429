// What the files of StreamDevice share and nobody else sees: a loaded program, and addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "backends/stream_device.hpp"

namespace kiln {

[[nodiscard]] inline DeviceAddress address_of(const Buffer& buffer, std::size_t offset = 0) {
  return buffer.handle + buffer.offset + offset;
}

/// A module with the kernels and constants that were asked for, found once each.
struct StreamDevice::LoadedModule final : Module {
  LoadedModule(StreamDevice& owner, void* loaded, std::map<std::string, std::string> names)
      : device(owner), handle(loaded), symbols(std::move(names)) {}
  ~LoadedModule() override {
    const Current current(device);
    device.api_.module_unload(handle);
  }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  StreamDevice& device;
  void* handle;
  std::map<std::string, std::string> symbols;  ///< of the binary: entry -> symbol
  std::deque<Kernel> kernels;                  // few; deques keep the addresses
  std::deque<Constant> constants;
};

}  // namespace kiln
