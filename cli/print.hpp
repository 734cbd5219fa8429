// What commands print: all of it goes through print_text(), so that no text of a stranger steers
// the terminal. Only status lines, which steer it themselves, are written elsewhere.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace kiln::cli {

/// Writes shown_text() of `text`; on stderr also without passwords. Throws std::system_error if not
/// all of it can be written.
void print_text(std::FILE* stream, std::string_view text);

/// Writes `text` to stdout as it is, for a program or a file; to a terminal as print_text() does.
void print_data(std::string_view text);

template <typename... Values>
void print_shown(fmt::format_string<Values...> format, Values&&... values) {
  print_text(stdout, fmt::format(format, std::forward<Values>(values)...));
}

template <typename... Values>
void print_shown(std::FILE* stream, fmt::format_string<Values...> format, Values&&... values) {
  print_text(stream, fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace kiln::cli
