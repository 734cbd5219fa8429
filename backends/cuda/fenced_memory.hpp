// Device memory with a fence: pages in front of it and behind it that nothing is mapped to, so that
// a kernel that reads or writes there faults.
//
// By the driver's management of virtual memory (cuMemCreate, cuMemMap), which every driver of CUDA
// 11 has; the device is asked. Memory comes in pieces of the device's granularity, 2 MiB as a rule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/stream_api.hpp"
#include "core/result.hpp"

namespace kiln {

/// The piece is unmapped at the end of its scope: no work that uses it may be on its way then, and
/// the device's context must be current.
class FencedMemory {
 public:
  /// At least `bytes` on the device; its context must be current.
  [[nodiscard]] static Result<FencedMemory> map(int ordinal, std::size_t bytes);
  FencedMemory(FencedMemory&& other) noexcept;
  FencedMemory& operator=(FencedMemory&& other) noexcept;
  ~FencedMemory();

  [[nodiscard]] DeviceAddress address() const { return reserved_ + margin_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  FencedMemory() = default;
  [[nodiscard]] Status map_pages(int ordinal);

  DeviceAddress reserved_ = 0;  ///< margin, memory, margin; 0: nothing
  std::size_t margin_ = 0;
  std::size_t bytes_ = 0;
  bool is_mapped_ = false;
};

}  // namespace kiln
