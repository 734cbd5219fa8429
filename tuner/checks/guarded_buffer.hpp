// GuardedBuffer: device memory with red zones, a known pattern before and after it, which show
// writes past the ends.
//
//   | 4 KiB pattern | bytes that a kernel may touch | 4 KiB pattern |
//
// Around inputs the zones hold values that show in a result, so they also show reads past the ends
// (input_values.hpp). The right zone begins at the very next byte. The kernel's part starts aligned
// like an allocation (256 bytes).
//
// With a fence, if the backend has fences, the right zone ends at the next multiple of 256 bytes,
// and the memory after it is not mapped. A kernel that reads there faults, even if it does not use
// the value. All mapped memory before the left zone holds the pattern.
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

/// Owns an allocation and releases it. Must not outlive its Device.
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
  /// Allocates `bytes` and arms the zones. Has no fence if the device offers none. A Failure is
  /// {out_of_memory, which buffer and how much}.
  static Result<GuardedBuffer> allocate(Device& device, const std::string& name, std::size_t bytes,
                                        Fence fence = Fence::none);

  /// Uses the memory for another buffer of up to room() bytes, and arms the zones around it.
  [[nodiscard]] Status assign(const std::string& name, std::size_t bytes);
  [[nodiscard]] std::size_t room() const { return room_; }

  /// The part that the kernel may touch.
  [[nodiscard]] const Buffer& view() const { return view_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Sets contents for the zones in place of the pattern, from the next arm() on.
  void set_zones(const ZoneBytes& before, const ZoneBytes& behind);

  /// Writes both zones.
  [[nodiscard]] Status arm();
  /// Returns a sentence about what was overwritten; empty if both zones hold what arm() wrote.
  /// Blocks.
  [[nodiscard]] Result<std::string> inspect();

 private:
  GuardedBuffer();
  /// The contents of the zone after the kernel's part.
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
