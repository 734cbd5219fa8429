// Numbers such as "1,120.5", of which a plain reader would take a part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace kiln {

/// Returns the last number of `text` if commas or apostrophes separate its thousands, else "".
[[nodiscard]] inline std::string_view separated_number(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_part = [&](char c) { return is_digit(c) || c == ',' || c == '\'' || c == '.'; };
  const std::size_t last = text.find_last_of("0123456789");
  if (last == std::string_view::npos) return "";
  std::size_t first = last;
  while (first > 0 && is_part(text[first - 1])) --first;
  while (!is_digit(text[first])) ++first;
  const std::string_view number = text.substr(first, last + 1 - first);
  const std::string_view whole = number.substr(0, number.find('.'));
  std::size_t at = 0;
  while (at < whole.size() && is_digit(whole[at])) ++at;
  if (at == 0 || at > 3 || at == whole.size()) return "";
  for (; at < whole.size(); at += 4) {
    const bool is_group = !is_digit(whole[at]) && at + 3 < whole.size() &&
                          is_digit(whole[at + 1]) && is_digit(whole[at + 2]) &&
                          is_digit(whole[at + 3]);
    if (!is_group) return "";
  }
  return number;
}

}  // namespace kiln
