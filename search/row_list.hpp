// RowList: rows in ascending order, each value in as few bits as its column needs.
//
// For sets of rows that a diagram (search/diagram.hpp) cannot compress: what somebody happened to
// try. Rows that agree in their first columns stand together, so each step down the columns is a
// binary search. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/rule_set.hpp"

namespace kiln {

/// Immutable once built; safe to read from many threads.
class RowList {
 public:
  /// Rows [first, last).
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };

  RowList() = default;
  /// `rows` ascend, each of `value_counts.size()` columns; a column's values are below its count,
  /// or kAbsent.
  RowList(std::span<const ValueIndex> rows, std::span<const std::size_t> value_counts);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] ValueIndex value(std::uint64_t row, std::size_t column) const;
  /// Returns the rows among `rows` that have the value in `column`; empty if none has. All `rows`
  /// must agree in the columns before it.
  [[nodiscard]] Range within(Range rows, std::size_t column, ValueIndex value) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Column {
    std::uint32_t first_bit = 0;  // in a row
    std::uint32_t bits = 0;
    ValueIndex absent = 0;  // stands for kAbsent
  };
  [[nodiscard]] std::uint32_t code(std::uint64_t row, const Column& column) const;

  std::vector<Column> columns_;
  std::vector<std::uint8_t> packed_;
  std::uint64_t row_bits_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace kiln
