// VariantSpace: the legal configs of one variant, as a diagram of the value indices of its
// tunables, or as the list of them where they were appended and a diagram would be larger.
//
// Indices 0..size()-1 follow the diagram: in the order in which it assigns the tunables, first
// tunable slowest, values in the order of the spec. Where rules were left open (is_exact() is
// false), some indices name combinations that are not legal: is_legal() tells.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "search/diagram.hpp"
#include "search/diagram_builder.hpp"
#include "search/effort.hpp"
#include "search/late_rules.hpp"
#include "search/row_list.hpp"

namespace kiln {

/// A tunable as the space needs it.
struct SpaceTunable {
  std::string name;
  std::vector<Value> values;
  ValueIndex fallback = 0;  ///< index of the default
};

class VariantSpace {
 public:
  /// An empty space over the tunables of `variant`, to append() rows to.
  explicit VariantSpace(const Variant& variant);
  /// The space of the rules of `variant`, as they were built.
  VariantSpace(const Variant& variant, RuleSet rules, BuiltDiagram built);

  /// Appends a row, one value index per tunable; rows must come in lexicographic order. Row i gets
  /// index i. They are in the space after shrink_to_fit().
  void append(std::span<const ValueIndex> row);
  void shrink_to_fit();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<SpaceTunable>& tunables() const { return tunables_; }
  [[nodiscard]] std::size_t size() const { return is_listed_ ? list_.size() : diagram_.size(); }
  [[nodiscard]] bool is_exact() const { return late_ == nullptr; }
  [[nodiscard]] bool is_legal(std::size_t index) const;
  /// The first legal index in [first, last), last at most size(). nullopt: there is none, or the
  /// effort was spent before that was known.
  [[nodiscard]] std::optional<std::size_t> next_legal(std::size_t first, std::size_t last,
                                                      Effort& effort) const;
  [[nodiscard]] std::size_t bytes() const { return is_listed_ ? list_.bytes() : diagram_.bytes(); }

  /// One value index per tunable.
  [[nodiscard]] std::vector<ValueIndex> row(std::size_t index) const;
  [[nodiscard]] Config at(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> index_of(const Config& config) const;
  [[nodiscard]] std::optional<std::size_t> index_of(std::span<const ValueIndex> row) const;
  [[nodiscard]] std::optional<std::size_t> default_index() const;

  /// All other legal values of each tunable in turn (see Neighbourhood::hamming).
  [[nodiscard]] std::vector<std::size_t> hamming_neighbours(std::size_t index) const;
  /// The next legal value of each tunable in turn, down and up (see Neighbourhood::adjacent).
  [[nodiscard]] std::vector<std::size_t> adjacent_neighbours(std::size_t index) const;

 private:
  /// Where the way of a config enters a column.
  struct Place {
    DiagramNode node = 0;      // of the diagram
    std::uint64_t before = 0;  // rows before those that are reached from here
    std::uint64_t last = 0;    // of the list: the row behind them
  };
  struct Way;

  [[nodiscard]] Place start() const { return {diagram_.root(), 0, list_.size()}; }
  /// nullopt: no row from here has the value in this column.
  [[nodiscard]] std::optional<Place> next(const Place& place, std::size_t column,
                                          ValueIndex value) const;
  /// The least value in this column of the rows from here.
  [[nodiscard]] ValueIndex first_value(const Place& place, std::size_t column) const;
  [[nodiscard]] std::vector<ValueIndex> columns_at(std::size_t index) const;

  [[nodiscard]] Way way_to(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> step(const Way& way, std::size_t column,
                                                ValueIndex value) const;
  [[nodiscard]] std::optional<std::size_t> follow(Place place, std::size_t column,
                                                  const std::vector<ValueIndex>& wanted) const;

  std::string name_;
  std::vector<SpaceTunable> tunables_;
  std::vector<std::size_t> columns_;  // column of the diagram -> tunable; others have one value
  Diagram diagram_;
  RowList list_;  // in place of the diagram where is_listed_
  bool is_listed_ = false;
  std::shared_ptr<const LateRules> late_;
  std::vector<ValueIndex> appended_;
  bool has_appended_ = false;  // a row without tunables adds no value
};

}  // namespace kiln
