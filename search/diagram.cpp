// SPDX-License-Identifier: Apache-2.0
#include "search/diagram.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/errors.hpp"
#include "search/word_hash.hpp"

namespace kiln {
namespace {

// Indices are stored as signed 64-bit numbers.
constexpr std::uint64_t kMaxRows = std::numeric_limits<std::int64_t>::max();

// Splits sorted rows by their columns, the first column first.
class RowSplitter {
 public:
  RowSplitter(std::span<const ValueIndex> rows, std::size_t width) : rows_(rows), width_(width) {}

  // The groups of rows that agree in the first `columns` columns, as their first row each, and the
  // end.
  [[nodiscard]] std::vector<std::size_t> groups(std::size_t columns) const {
    std::vector<std::size_t> firsts = {0};
    const std::size_t count = width_ == 0 ? 1 : rows_.size() / width_;
    for (std::size_t r = 1; r < count; ++r) {
      const auto row = rows_.subspan(r * width_, columns);
      const auto previous = rows_.subspan((r - 1) * width_, columns);
      if (!std::equal(row.begin(), row.end(), previous.begin())) firsts.push_back(r);
    }
    firsts.push_back(count);
    return firsts;
  }
  [[nodiscard]] ValueIndex value(std::size_t row, std::size_t column) const {
    return rows_[row * width_ + column];
  }

 private:
  std::span<const ValueIndex> rows_;
  std::size_t width_;
};

}  // namespace

const Diagram::Edge* Diagram::find(DiagramNode node, ValueIndex value) const {
  const std::span<const Edge> all = edges(node);
  const auto found =
      std::lower_bound(all.begin(), all.end(), value,
                       [](const Edge& edge, ValueIndex wanted) { return edge.value < wanted; });
  return found != all.end() && found->value == value ? &*found : nullptr;
}

void Diagram::row(std::uint64_t index, std::span<ValueIndex> row) const {
  DiagramNode node = root_;
  for (ValueIndex& value : row) {
    const std::span<const Edge> all = edges(node);
    const auto after = std::upper_bound(
        all.begin(), all.end(), index,
        [](std::uint64_t wanted, const Edge& edge) { return wanted < edge.before; });
    const Edge& edge = *std::prev(after);
    index -= edge.before;
    value = edge.value;
    node = edge.child;
  }
}

std::size_t Diagram::bytes() const {
  return edges_.size() * sizeof(Edge) + firsts_.size() * sizeof(firsts_[0]) +
         counts_.size() * sizeof(counts_[0]);
}

void DiagramWriter::begin_level() {
  std::fill(table_.begin(), table_.end(), Diagram::kNone);
  hashes_.clear();
  level_first_ = static_cast<DiagramNode>(diagram_.node_count());
}

DiagramNode DiagramWriter::add(std::span<const Way> ways) {
  if (ways.empty()) return Diagram::kNone;
  std::uint64_t hash = ways.size();
  for (const Way& way : ways) hash = mix(hash, (std::uint64_t{way.value} << 32) | way.child);
  if (2 * (hashes_.size() + 1) > table_.size()) grow();
  std::size_t place = hash & (table_.size() - 1);
  for (; table_[place] != Diagram::kNone; place = (place + 1) & (table_.size() - 1)) {
    const DiagramNode known = table_[place];
    if (hashes_[known - level_first_] == hash && is(known, ways)) return known;
  }
  const auto node = static_cast<DiagramNode>(diagram_.node_count());
  std::uint64_t rows = 0;
  for (const Way& way : ways) {
    diagram_.edges_.push_back({rows, way.child, way.value});
    rows += diagram_.counts_[way.child];  // both at most 2^63 - 1
    if (rows > kMaxRows) {
      throw InputError(
          "the space holds more than 2^63 configs; add constraints, or leave out values");
    }
  }
  diagram_.firsts_.push_back(static_cast<std::uint32_t>(diagram_.edges_.size()));
  diagram_.counts_.push_back(rows);
  hashes_.push_back(hash);
  table_[place] = node;
  return node;
}

Diagram DiagramWriter::finish(DiagramNode root) && {
  diagram_.root_ = root;
  if (root == Diagram::kNone) return {};
  diagram_.edges_.shrink_to_fit();
  diagram_.firsts_.shrink_to_fit();
  diagram_.counts_.shrink_to_fit();
  return std::move(diagram_);
}

bool DiagramWriter::is(DiagramNode node, std::span<const Way> ways) const {
  const std::span<const Diagram::Edge> edges = diagram_.edges(node);
  return std::equal(edges.begin(), edges.end(), ways.begin(), ways.end(),
                    [](const Diagram::Edge& edge, const Way& way) {
                      return edge.value == way.value && edge.child == way.child;
                    });
}

void DiagramWriter::grow() {
  table_.assign(2 * table_.size(), Diagram::kNone);
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t place = hashes_[i] & (table_.size() - 1);
    while (table_[place] != Diagram::kNone) place = (place + 1) & (table_.size() - 1);
    table_[place] = level_first_ + static_cast<DiagramNode>(i);
  }
}

Diagram diagram_of_rows(std::span<const ValueIndex> rows, std::size_t width) {
  if (rows.empty() && width != 0) return {};
  const RowSplitter splitter(rows, width);
  DiagramWriter writer;
  std::vector<std::size_t> below = splitter.groups(width);
  std::vector<DiagramNode> nodes(below.size() - 1, Diagram::kEnd);
  for (std::size_t column = width; column-- > 0;) {
    writer.begin_level();
    std::vector<std::size_t> groups = splitter.groups(column);
    std::vector<DiagramNode> above;
    std::size_t child = 0;
    std::vector<DiagramWriter::Way> ways;
    for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
      ways.clear();
      for (; child + 1 < below.size() && below[child] < groups[g + 1]; ++child) {
        ways.push_back({splitter.value(below[child], column), nodes[child]});
      }
      above.push_back(writer.add(ways));
    }
    below = std::move(groups);
    nodes = std::move(above);
  }
  return std::move(writer).finish(nodes.front());
}

}  // namespace kiln
