// Tables for people: aligned columns with a rule under the heading; where the screen is too narrow
// for that, a block of lines a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kiln::cli {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell a column; a cell is one line, see first_line. `notes` are lines of their own under
  /// the row: what is too long for a cell.
  void add_row(std::vector<std::string> cells, std::vector<std::string> notes = {});
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Columns of the widest line of cells.
  [[nodiscard]] std::size_t width() const;
  /// The table as text, each line ended; no trailing spaces. No line is longer than `width`. If the
  /// cells are too long, those of the last column take several lines. If the last column then has
  /// too little room, each row becomes a block: its first cell, then the others with their
  /// headings.
  [[nodiscard]] std::string text(std::optional<std::size_t> width = std::nullopt) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> notes;
  };
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                 const std::vector<std::size_t>& widths) const;
  [[nodiscard]] std::string as_table(const std::vector<std::size_t>& widths,
                                     std::optional<std::size_t> width) const;
  [[nodiscard]] std::string as_blocks(std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// `text` up to its first newline: the reason of a message whose rest is a compiler's log. A line
/// that ends with a colon says nothing alone: the next one follows it.
[[nodiscard]] std::string first_line(const std::string& text);

}  // namespace kiln::cli
