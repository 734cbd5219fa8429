// Turns frames into bytes of a socket, and joins the bytes that arrive into frames.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/protocol.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace kiln {
namespace {

struct Prefix {
  std::uint32_t magic;
  std::uint32_t header_bytes;
  std::uint32_t blob_bytes;
};
constexpr std::uint32_t kMagic = 0x4e4c494b;  // "KILN"
constexpr std::size_t kFrameReadBytes = 65536;

}  // namespace

std::vector<std::byte> to_wire(const Frame& frame) {
  if (frame.header.size() > kMaxHeaderBytes || frame.blob.size() > kMaxBlobBytes) {
    throw std::length_error("a message between processes is too long");
  }
  const Prefix prefix{kMagic, static_cast<std::uint32_t>(frame.header.size()),
                      static_cast<std::uint32_t>(frame.blob.size())};
  std::vector<std::byte> wire(sizeof prefix + frame.header.size() + frame.blob.size());
  std::memcpy(wire.data(), &prefix, sizeof prefix);
  std::memcpy(wire.data() + sizeof prefix, frame.header.data(), frame.header.size());
  if (!frame.blob.empty()) {
    std::memcpy(wire.data() + sizeof prefix + frame.header.size(), frame.blob.data(),
                frame.blob.size());
  }
  return wire;
}

void FrameReader::feed(std::span<const std::byte> bytes) {
  if (consumed_ > 0) {
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(consumed_));
    consumed_ = 0;
  }
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
}

std::optional<Frame> FrameReader::next() {
  if (malformed_ || pending_.size() - consumed_ < sizeof(Prefix)) return std::nullopt;
  Prefix prefix{};
  std::memcpy(&prefix, pending_.data() + consumed_, sizeof prefix);
  malformed_ = prefix.magic != kMagic || prefix.header_bytes > kMaxHeaderBytes ||
               prefix.blob_bytes > kMaxBlobBytes;
  const std::size_t total = sizeof prefix + prefix.header_bytes + prefix.blob_bytes;
  if (malformed_ || pending_.size() - consumed_ < total) return std::nullopt;

  const std::byte* header = pending_.data() + consumed_ + sizeof prefix;
  const std::byte* blob = header + prefix.header_bytes;
  Frame frame{{reinterpret_cast<const char*>(header), prefix.header_bytes},
              {blob, blob + prefix.blob_bytes}};
  consumed_ += total;
  return frame;
}

std::optional<Frame> BlockingChannel::receive() {
  std::array<std::byte, kFrameReadBytes> bytes;
  while (true) {
    if (auto frame = reader_.next()) return frame;
    if (reader_.malformed()) return std::nullopt;
    const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    reader_.feed({bytes.data(), static_cast<std::size_t>(got)});
  }
}

bool BlockingChannel::send(const Frame& frame) {
  const std::vector<std::byte> wire = to_wire(frame);
  std::size_t sent = 0;
  while (sent < wire.size()) {
    const ssize_t put = ::send(descriptor_, wire.data() + sent, wire.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    sent += static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace kiln
