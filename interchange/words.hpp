// Words of other tools, whose spelling varies. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln::interchange {

/// ASCII letters small, everything else as it is.
[[nodiscard]] inline std::string small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

/// The letters and digits alone, small: "Total_Duration" is "totalduration".
[[nodiscard]] inline std::string bare_word(std::string_view text) {
  std::string bare = small_letters(text);
  std::erase_if(bare, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); });
  return bare;
}

}  // namespace kiln::interchange
