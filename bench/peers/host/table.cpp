// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::peers {

std::string aligned(const std::vector<Column>& columns,
                    const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines.front().push_back(column.heading);
  lines.insert(lines.end(), cells.begin(), cells.end());
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += columns[i].number ? fmt::format("{:>{}}  ", line[i], widths[i])
                                : fmt::format("{:<{}}  ", line[i], widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace kiln::peers
