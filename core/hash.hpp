// Content keys. One hash everywhere (XXH3), so a key seen in a log is the key in the database.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

[[nodiscard]] std::uint64_t hash64(std::string_view text);
/// 16 hex characters.
[[nodiscard]] std::string hash64_hex(std::string_view text);
/// 32 hex characters; for binary cache keys.
[[nodiscard]] std::string hash128_hex(std::string_view text);
[[nodiscard]] std::string hash128_hex(std::span<const std::byte> bytes);

/// Parts of a key, joined so that no two different lists give one text.
class KeyText {
 public:
  void add(std::string_view part);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace kiln
