// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <algorithm>
#include <numeric>

#include "cli/text_layout.hpp"
#include "core/shown_text.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kGap = 2;         // between two columns
constexpr std::size_t kLeastLast = 24;  // a last column narrower than this is hard to read
constexpr std::size_t kIndent = 2;      // of the lines under a row

std::size_t total(const std::vector<std::size_t>& widths) {
  const std::size_t cells = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  return cells + (widths.empty() ? 0 : kGap * (widths.size() - 1));
}

bool says_nothing(const std::string& cell) { return cell.empty() || cell == "-"; }

}  // namespace

void Table::add_row(std::vector<std::string> cells, std::vector<std::string> notes) {
  for (std::string& cell : cells) cell = shown_text(cell);  // before its width is counted
  rows_.push_back({std::move(cells), std::move(notes)});
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(columns_of(column.heading));
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row.cells[i]));
    }
  }
  return widths;
}

std::size_t Table::width() const { return total(widths()); }

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t columns = columns_of(cells[i]);
    const std::string padding(widths[i] > columns ? widths[i] - columns : 0, ' ');
    line += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
    line += std::string(kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Table::as_table(const std::vector<std::size_t>& widths,
                            std::optional<std::size_t> width) const {
  std::vector<std::string> headings;
  std::vector<std::string> rule;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headings.push_back(columns_[i].heading);
    rule.emplace_back(widths[i], '-');
  }
  std::string out = line(headings, widths) + "\n" + line(rule, widths) + "\n";
  for (const Row& row : rows_) {
    std::vector<std::string> cells = row.cells;
    for (const std::string& part : wrapped(row.cells.back(), widths.back())) {
      cells.back() = part;
      out += line(cells, widths) + "\n";
      cells.assign(cells.size(), "");
    }
    for (const std::string& note : row.notes) out += paragraph(note, width, kIndent, 2 * kIndent);
  }
  return out;
}

std::string Table::as_blocks(std::size_t width) const {
  std::string out;
  for (const Row& row : rows_) {
    std::vector<std::string> pieces;
    for (std::size_t i = 1; i < row.cells.size(); ++i) {
      if (!says_nothing(row.cells[i])) pieces.push_back(columns_[i].heading + " " + row.cells[i]);
    }
    out += paragraph(columns_.front().heading + " " + row.cells.front(), width);
    for (const std::string& line : packed(pieces, width - kIndent)) {
      out += std::string(kIndent, ' ') + line + "\n";
    }
    for (const std::string& note : row.notes) out += paragraph(note, width, kIndent, 2 * kIndent);
  }
  return out;
}

std::string Table::text(std::optional<std::size_t> width) const {
  std::vector<std::size_t> widths = this->widths();
  const std::size_t whole = total(widths);
  if (!width || whole <= *width) return as_table(widths, width);
  const std::size_t others = whole - widths.back();
  const bool last_can_wrap = columns_.back().align == Align::left && others + kLeastLast <= *width;
  if (!last_can_wrap) return as_blocks(*width);
  widths.back() = *width - others;
  return as_table(widths, width);
}

std::string first_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  std::string line = text.substr(0, end);
  if (end == std::string::npos || !line.ends_with(":")) return line;
  const std::size_t next = text.find_first_not_of(" \n", end);
  if (next == std::string::npos) return line;
  return line + " " + text.substr(next, text.find('\n', next) - next);
}

}  // namespace kiln::cli
