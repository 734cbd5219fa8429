// What texts are printed on: a terminal with a width and colours, or a file or pipe without.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::cli {

/// Columns of the terminal behind a file descriptor; nullopt: it is none (a file, a pipe).
[[nodiscard]] std::optional<std::size_t> terminal_width(int file);

/// Lines of that terminal; nullopt: it is none, or does not say.
[[nodiscard]] std::optional<std::size_t> terminal_height(int file);

/// Can the terminal behind a file descriptor redraw a line? Not where TERM is "dumb".
[[nodiscard]] bool can_redraw(int file);

/// What a command prints its text on.
struct Screen {
  std::optional<std::size_t> width = {};   ///< columns; nullopt: lines may be of any length
  std::optional<std::size_t> height = {};  ///< lines that are seen at once; nullopt: any number
  bool color = false;
  bool blocks = false;  ///< the characters of bars (U+2581 to U+2588) can be shown
};

/// Of a file descriptor. $COLUMNS is the width where it is no terminal; colours need a terminal, a
/// TERM other than "dumb", and no NO_COLOR; bars need a locale in UTF-8.
[[nodiscard]] Screen screen_of(int file);

/// Columns that lines on stdout may take; nullopt: any number.
[[nodiscard]] std::optional<std::size_t> output_width();

/// Each is readable on black and on white.
enum class Style { good, doubtful, bad, dim, strong };

/// `text` in a style where the screen has colours; the text alone where it has none or is empty.
[[nodiscard]] std::string styled(const std::string& text, Style style, const Screen& screen);

}  // namespace kiln::cli
