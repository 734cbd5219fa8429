// Lines of a given width: how wide a text is, and where it may be broken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

/// Columns that `text` takes: its code points, so that "µ" takes one; colour codes take none.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// `text`, or as much of it as fits into `width` columns, ended with "...".
[[nodiscard]] std::string cut_to(std::string_view text, std::size_t width);

/// `text` in lines of at most `width` columns, broken at spaces and behind commas, but never
/// between a number and the word behind it, its unit. A longer word is cut.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `pieces` in lines of at most `width` columns with ", " between them; a piece is broken only
/// where it is longer than a line.
[[nodiscard]] std::vector<std::string> packed(const std::vector<std::string>& pieces,
                                              std::size_t width);

/// `text` in lines that fit, each ended; further lines are indented by `hang` spaces, and the first
/// one by `indent`. Without a width it is one line.
[[nodiscard]] std::string paragraph(std::string_view text, std::optional<std::size_t> width,
                                    std::size_t indent = 0, std::size_t hang = 2);

/// The same for a text of several lines: each is a paragraph that keeps its indent.
[[nodiscard]] std::string paragraphs(std::string_view text, std::optional<std::size_t> width);

}  // namespace kiln::cli
