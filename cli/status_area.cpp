// SPDX-License-Identifier: Apache-2.0
#include "cli/status_area.hpp"

#include <cstdio>
#include <utility>

#include "core/shown_text.hpp"

namespace kiln::cli {

/// What takes the rows away and leaves the cursor at the start of the first one.
std::string StatusArea::erased() {
  const std::size_t lines = std::exchange(lines_, 0);
  if (lines == 0) return "";
  std::string text = "\r\x1b[K";
  for (std::size_t i = 1; i < lines; ++i) text += "\x1b[A\x1b[K";
  return text;
}

std::string StatusArea::drawn() {
  std::string text;
  for (const std::string& row : rows_) {
    if (row.empty()) continue;
    if (lines_++ > 0) text += '\n';
    text += row;
  }
  return text;
}

void StatusArea::set(std::size_t row, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  std::string shown = hidden_passwords(shown_text(text));
  if (rows_[row] == shown) return;
  rows_[row] = std::move(shown);
  const std::string start = lines_ > 0 ? erased() : "\r\x1b[K";
  std::fputs((start + drawn()).c_str(), stderr);
  std::fflush(stderr);
}

void StatusArea::print(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  const std::string start = erased();
  std::fputs((start + hidden_passwords(shown_text(text)) + drawn()).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace kiln::cli
