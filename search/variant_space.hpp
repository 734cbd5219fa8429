// VariantSpace: the legal configs of one variant, as rows of one byte per tunable.
//
// Rows are in lexicographic order, so a config is found by binary search and no other index is
// kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"

namespace kiln {

/// Index of a value in its tunable's list; kAbsent: the tunable does not exist in this config.
using ValueIndex = std::uint8_t;
inline constexpr ValueIndex kAbsent = 255;

/// A tunable as the space needs it.
struct SpaceTunable {
  std::string name;
  std::vector<Value> values;
  ValueIndex fallback = 0;  ///< index of the default
};

class VariantSpace {
 public:
  /// An empty space over the tunables of `variant`.
  explicit VariantSpace(const Variant& variant);

  /// Appends a row; rows must come in lexicographic order.
  void append(std::span<const ValueIndex> row);
  void shrink_to_fit() { rows_.shrink_to_fit(); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<SpaceTunable>& tunables() const { return tunables_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const ValueIndex> row(std::size_t index) const;
  [[nodiscard]] Config at(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> index_of(const Config& config) const;
  [[nodiscard]] std::optional<std::size_t> index_of(std::span<const ValueIndex> row) const;
  [[nodiscard]] std::optional<std::size_t> default_index() const;

  /// All other legal values of each tunable in turn (see Neighbourhood::hamming).
  [[nodiscard]] std::vector<std::size_t> hamming_neighbours(std::size_t index) const;
  /// The next legal value of each tunable in turn, down and up (see Neighbourhood::adjacent).
  [[nodiscard]] std::vector<std::size_t> adjacent_neighbours(std::size_t index) const;

 private:
  struct RowRange {
    std::size_t first;
    std::size_t last;
    [[nodiscard]] bool empty() const { return first == last; }
  };
  [[nodiscard]] RowRange narrow(RowRange rows, std::size_t column, ValueIndex value) const;
  [[nodiscard]] RowRange prefix_range(std::size_t index, std::size_t columns) const;
  [[nodiscard]] std::optional<std::size_t> complete(RowRange rows, std::size_t index,
                                                    std::size_t column) const;

  std::string name_;
  std::vector<SpaceTunable> tunables_;
  std::vector<ValueIndex> rows_;
  std::size_t size_ = 0;
};

}  // namespace kiln
