// Allocates device memory with red zones, fills the zones, and looks for damage in them.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/checks/guarded_buffer.hpp"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

constexpr std::uint8_t kPattern = 0xC7;

/// Offset of the first byte that changed; the size when none did.
std::size_t first_damage(std::span<const std::byte> zone, std::span<const std::byte> armed) {
  return static_cast<std::size_t>(std::mismatch(zone.begin(), zone.end(), armed.begin()).first -
                                  zone.begin());
}

}  // namespace

OwnedBuffer& OwnedBuffer::operator=(OwnedBuffer&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, nullptr);
    buffer_ = std::exchange(other.buffer_, {});
  }
  return *this;
}

void OwnedBuffer::reset() {
  if (device_ != nullptr) device_->release(buffer_);
  device_ = nullptr;
}

Result<OwnedBuffer> OwnedBuffer::allocate(Device& device, std::size_t bytes) {
  Result<Buffer> buffer = device.allocate(bytes);
  if (!buffer) return buffer.failure();
  return OwnedBuffer(device, *buffer);
}

Result<OwnedBuffer> OwnedBuffer::allocate_fenced(Device& device, std::size_t bytes) {
  Result<Buffer> buffer = device.allocate_fenced(bytes);
  if (!buffer) return buffer.failure();
  return OwnedBuffer(device, *buffer);
}

Result<GuardedBuffer> GuardedBuffer::allocate(Device& device, const std::string& name,
                                              std::size_t bytes, Fence fence) {
  GuardedBuffer buffer;
  Result<OwnedBuffer> memory = Failure();
  if (fence == Fence::behind) memory = OwnedBuffer::allocate_fenced(device, kRedZoneBytes + bytes);
  if (!memory) memory = OwnedBuffer::allocate(device, bytes + 2 * kRedZoneBytes);
  if (!memory) {
    Failure failure = memory.failure();
    failure.message =
        "no room for '" + name + "' (" + std::to_string(bytes) + " bytes): " + failure.message;
    return failure;
  }
  // What is mapped in front of it, too: fresh memory is zero, which may be what is looked for.
  const Buffer slack{memory->get().handle, memory->get().offset, 0};
  if (Status status = device.fill(slack, 0, slack.bytes, kPattern); !status)
    return status.failure();
  buffer.device_ = &device;
  buffer.memory_ = std::move(*memory);
  buffer.room_ = bytes;
  if (Status status = buffer.assign(name, bytes); !status) return status.failure();
  return buffer;
}

Status GuardedBuffer::assign(const std::string& name, std::size_t bytes) {
  name_ = name;
  const std::size_t end = kRedZoneBytes + bytes;
  bytes_behind_ = std::min(kRedZoneBytes, memory_.get().bytes - end);
  view_ = {memory_.get().handle, bytes, memory_.get().offset + kRedZoneBytes};
  return arm();
}

GuardedBuffer::GuardedBuffer() {
  before_.fill(std::byte{kPattern});
  behind_.fill(std::byte{kPattern});
}

void GuardedBuffer::set_zones(const ZoneBytes& before, const ZoneBytes& behind) {
  before_ = before;
  behind_ = behind;
  has_pattern_ = false;
}

Status GuardedBuffer::arm() {
  const Buffer& all = memory_.get();
  const std::size_t end = kRedZoneBytes + view_.bytes;
  if (has_pattern_) {
    if (Status status = device_->fill(all, 0, kRedZoneBytes, kPattern); !status) return status;
    return device_->fill(all, end, bytes_behind_, kPattern);
  }
  if (Status status = device_->upload(all, 0, before_); !status) return status;
  return device_->upload(all, end, zone_behind());
}

Result<std::string> GuardedBuffer::inspect() {
  ZoneBytes zone;
  const Buffer& all = memory_.get();
  const std::span<std::byte> behind = std::span(zone).first(bytes_behind_);
  if (Status status = device_->download(all, kRedZoneBytes + view_.bytes, behind); !status)
    return status.failure();
  if (const std::size_t at = first_damage(behind, zone_behind()); at < behind.size()) {
    return "wrote past the end of '" + name_ + "': byte " + std::to_string(at) +
           " behind it changed";
  }
  if (Status status = device_->download(all, 0, zone); !status) return status.failure();
  if (const std::size_t at = first_damage(zone, before_); at < zone.size()) {
    return "wrote before the start of '" + name_ + "': byte " + std::to_string(zone.size() - at) +
           " in front of it changed";
  }
  return std::string();
}

}  // namespace kiln
