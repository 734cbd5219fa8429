// The last lines of a terminal, one for each device that works; other lines scroll above them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace kiln::cli {

/// On stderr. Any thread may call it. Rows that are empty take no line.
class StatusArea {
 public:
  explicit StatusArea(std::size_t rows) : rows_(rows) {}
  StatusArea(const StatusArea&) = delete;

  /// Redraws the row; `text` must fit into one line. Empty: takes the row away.
  void set(std::size_t row, const std::string& text);
  /// Prints lines above the rows; `text` ends with a newline.
  void print(const std::string& text);

 private:
  [[nodiscard]] std::string erased();
  [[nodiscard]] std::string drawn();

  std::mutex mutex_;
  std::vector<std::string> rows_;
  std::size_t lines_ = 0;  ///< of the terminal that rows take now
};

}  // namespace kiln::cli
