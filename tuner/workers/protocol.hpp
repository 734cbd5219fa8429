// Frames between the supervisor and its workers: a JSON header and an optional blob over a socket.
//
// On the wire: magic, header length, blob length (32-bit, machine's byte order: both ends are the
// same machine and program), header, blob. Lengths are bounded, so a worker with a broken heap
// cannot make the supervisor allocate without limit. tuner/workers/messages.hpp defines the
// headers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kiln {

struct Frame {
  std::string header;           ///< JSON text
  std::vector<std::byte> blob;  ///< binaries
};

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxBlobBytes = std::size_t{512} << 20;

/// Returns the bytes of a frame on the wire. Throws std::length_error beyond the limits.
[[nodiscard]] std::vector<std::byte> to_wire(const Frame& frame);

/// Collects bytes and returns frames as they become complete.
class FrameReader {
 public:
  void feed(std::span<const std::byte> bytes);
  /// Returns the next complete frame; nullopt if more bytes are needed, or the stream is malformed.
  [[nodiscard]] std::optional<Frame> next();
  /// Returns whether the stream is malformed: no more frames come out of it.
  [[nodiscard]] bool malformed() const { return malformed_; }

 private:
  std::vector<std::byte> pending_;
  std::size_t consumed_ = 0;
  bool malformed_ = false;
};

/// The worker's end: blocks on one socket.
class BlockingChannel {
 public:
  explicit BlockingChannel(int descriptor) : descriptor_(descriptor) {}
  /// Returns nullopt if the peer is gone or sends garbage: the worker must end.
  [[nodiscard]] std::optional<Frame> receive();
  /// Returns false if the peer is gone.
  [[nodiscard]] bool send(const Frame& frame);

 private:
  int descriptor_;
  FrameReader reader_;
};

}  // namespace kiln
