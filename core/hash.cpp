// XXH3 behind our own names: the only file that knows which hash it is.
// SPDX-License-Identifier: Apache-2.0
#include "core/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln {
namespace {

void append_hex(std::string& text, std::uint64_t bits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(bits >> shift) & 0xF];
}

std::string hash128_hex(const void* data, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  std::string text;
  text.reserve(32);
  append_hex(text, hash.high64);
  append_hex(text, hash.low64);
  return text;
}

}  // namespace

std::uint64_t hash64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string hash64_hex(std::string_view text) {
  std::string hex;
  hex.reserve(16);
  append_hex(hex, hash64(text));
  return hex;
}

std::string hash128_hex(std::string_view text) { return hash128_hex(text.data(), text.size()); }

std::string hash128_hex(std::span<const std::byte> bytes) {
  return hash128_hex(bytes.data(), bytes.size());
}

void KeyText::add(std::string_view part) {
  text_ += std::to_string(part.size());
  text_ += ':';
  text_ += part;
}

}  // namespace kiln
