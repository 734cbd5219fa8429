// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <algorithm>

namespace kiln::cli {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

// Code points, so that "µ" and "×" take one column.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string cut(const std::string& text, std::size_t width) {
  constexpr std::string_view kMore = "...";
  if (width_of(text) <= width || width <= kMore.size()) return text;
  std::size_t left = width - kMore.size();
  std::size_t end = 0;
  while (left > 0 || !starts_code_point(text[end])) {
    left -= starts_code_point(text[end]) ? 1 : 0;
    ++end;
  }
  return text.substr(0, end).append(kMore);
}

}  // namespace

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.heading));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - width_of(cells[i]), ' ');
    line += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
    line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Table::text(std::optional<std::size_t> width) const {
  const std::vector<std::size_t> widths = this->widths();
  std::vector<std::string> headings;
  std::vector<std::string> rule;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headings.push_back(columns_[i].heading);
    rule.emplace_back(widths[i], '-');
  }
  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    const std::string whole = line(cells, widths);
    out += (width ? cut(whole, *width) : whole) + "\n";
  };
  add_line(headings);
  add_line(rule);
  for (const auto& row : rows_) add_line(row);
  return out;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace kiln::cli
