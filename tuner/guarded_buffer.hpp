// Device memory with red zones: a known pattern before and behind, so that writes past the ends are
// seen.
//
//   | 4 KiB pattern | bytes that a kernel may touch | 4 KiB pattern |
//
// Around inputs the zones hold values that show in a result, so that reads past the ends are seen
// too (input_values.hpp).
// The right zone begins at the very next byte. The kernel's part starts aligned like an allocation
// (256 bytes).
//
// With a fence, where the backend has them, the right zone ends at the next multiple of 256 bytes,
// and behind it nothing is mapped: a kernel that reads there faults, also one that makes no use of
// what it reads. All that is mapped in front of the left zone holds the pattern.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "backends/backend.hpp"

namespace kiln {

inline constexpr std::size_t kRedZoneBytes = 4096;
using ZoneBytes = std::array<std::byte, kRedZoneBytes>;

/// An allocation that is released at the end of its scope. Must not outlive its Device.
class OwnedBuffer {
 public:
  OwnedBuffer() = default;
  OwnedBuffer(Device& device, Buffer buffer) : device_(&device), buffer_(buffer) {}
  ~OwnedBuffer() { reset(); }
  OwnedBuffer(OwnedBuffer&& other) noexcept { *this = std::move(other); }
  OwnedBuffer& operator=(OwnedBuffer&& other) noexcept;
  [[nodiscard]] const Buffer& get() const { return buffer_; }
  void reset();

  static Result<OwnedBuffer> allocate(Device& device, std::size_t bytes);
  static Result<OwnedBuffer> allocate_fenced(Device& device, std::size_t bytes);

 private:
  Device* device_ = nullptr;
  Buffer buffer_;
};

enum class Fence { none, behind };

class GuardedBuffer {
 public:
  /// Room for `bytes`; zones are armed. Without a fence where the device has none to give. A
  /// Failure is {out_of_memory, which buffer and how much}.
  static Result<GuardedBuffer> allocate(Device& device, const std::string& name, std::size_t bytes,
                                        Fence fence = Fence::none);

  /// Lends the memory to another buffer of up to room() bytes, and arms the zones around those.
  [[nodiscard]] Status assign(const std::string& name, std::size_t bytes);
  [[nodiscard]] std::size_t room() const { return room_; }

  /// What the kernel may touch.
  [[nodiscard]] const Buffer& view() const { return view_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Other contents for the zones than the pattern, from the next arm() on.
  void set_zones(const ZoneBytes& before, const ZoneBytes& behind);

  /// Writes both zones.
  [[nodiscard]] Status arm();
  /// Empty when both zones hold what arm() wrote; else a sentence on what was overwritten. Blocks.
  [[nodiscard]] Result<std::string> inspect();

 private:
  GuardedBuffer();
  /// What is armed behind the kernel's part.
  [[nodiscard]] std::span<const std::byte> zone_behind() const {
    return std::span(behind_).first(bytes_behind_);
  }

  Device* device_ = nullptr;
  std::string name_;
  OwnedBuffer memory_;
  std::size_t room_ = 0;
  std::size_t bytes_behind_ = 0;
  Buffer view_;
  bool has_pattern_ = true;
  ZoneBytes before_;
  ZoneBytes behind_;
};

}  // namespace kiln
