// Diagram: a set of rows as a decision diagram, with an exact count under every node.
//
// One level per column. For each value that leads to a row, a node holds the node of the next
// level. Equal rests of rows are stored once, so the diagram of a product of independent parts is
// as large as the parts together. Even a set too large to list is counted, indexed and sampled
// exactly. A walk down the counts finds row i.
//
// Method: multi-valued decision diagrams, reduced and quasi-reduced as in A. Srinivasan, T. Kam, S.
// Malik, R. Brayton, "Algorithms for discrete function manipulation", ICCAD 1990. Private to
// search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/rule_set.hpp"

namespace kiln {

using DiagramNode = std::uint32_t;

/// Immutable once built; safe to read from many threads.
class Diagram {
 public:
  /// A way from a node down: the value of its column, and where it leads.
  struct Edge {
    std::uint64_t before = 0;  ///< rows under the node's earlier edges
    DiagramNode child = 0;
    ValueIndex value = 0;
  };

  /// Behind the last column.
  static constexpr DiagramNode kEnd = 0;
  /// Of a state that leads to no row; no node has this number.
  static constexpr DiagramNode kNone = 0xFFFFFFFF;

  Diagram() : firsts_{0, 0}, counts_{1} {}

  [[nodiscard]] std::uint64_t size() const { return root_ == kNone ? 0 : counts_[root_]; }
  [[nodiscard]] DiagramNode root() const { return root_; }
  [[nodiscard]] std::uint64_t count(DiagramNode node) const { return counts_[node]; }
  /// By value, ascending.
  [[nodiscard]] std::span<const Edge> edges(DiagramNode node) const {
    return std::span(edges_).subspan(firsts_[node], firsts_[node + 1] - firsts_[node]);
  }
  /// nullptr when no row under the node has this value in its column.
  [[nodiscard]] const Edge* find(DiagramNode node, ValueIndex value) const;

  /// Row `index` in the order of the columns, below size(). `row` has one place a column.
  void row(std::uint64_t index, std::span<ValueIndex> row) const;

  [[nodiscard]] std::size_t node_count() const { return counts_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend class DiagramWriter;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> firsts_;  // per node and one more: its edges
  std::vector<std::uint64_t> counts_;  // per node: rows under it
  DiagramNode root_ = kNone;
};

/// Builds a diagram from its last level to its first.
class DiagramWriter {
 public:
  struct Way {
    ValueIndex value = 0;
    DiagramNode child = 0;
  };

  /// Nodes of different levels are never equal.
  void begin_level();
  /// The node with these ways, by value ascending, children of the level before; kNone for none.
  /// Throws InputError when there are more rows than an index can name.
  [[nodiscard]] DiagramNode add(std::span<const Way> ways);
  [[nodiscard]] Diagram finish(DiagramNode root) &&;

 private:
  [[nodiscard]] bool is(DiagramNode node, std::span<const Way> ways) const;
  void grow();

  Diagram diagram_;
  std::vector<DiagramNode> table_ = std::vector<DiagramNode>(64, Diagram::kNone);
  std::vector<std::uint64_t> hashes_;  // per node of the level
  DiagramNode level_first_ = 1;
};

/// Rows in ascending order, all of `width` columns.
[[nodiscard]] Diagram diagram_of_rows(std::span<const ValueIndex> rows, std::size_t width);

}  // namespace kiln
