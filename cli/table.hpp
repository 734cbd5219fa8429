// Tables for people: aligned columns, a rule under the heading, nothing else.
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
  /// One cell a column; a cell is one line, see first_line.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// The table as text, each line ended; no trailing spaces. Lines longer than `width` columns end
  /// in "...".
  [[nodiscard]] std::string text(std::optional<std::size_t> width = std::nullopt) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells,
                                 const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` up to its first newline: the reason of a message whose rest is a compiler's log.
[[nodiscard]] std::string first_line(const std::string& text);

}  // namespace kiln::cli
