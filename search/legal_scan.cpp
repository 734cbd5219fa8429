// SPDX-License-Identifier: Apache-2.0
#include "search/legal_scan.hpp"

#include <algorithm>
#include <iterator>

namespace kiln {

using expression::Cell;

LegalScan::LegalScan(const Diagram& diagram, const LateRules& late)
    : diagram_(diagram),
      late_(late),
      bounds_(late.bounds()),
      registers_(late.rules().network().registers()) {}

std::optional<std::uint64_t> LegalScan::next(std::uint64_t first, std::uint64_t last,
                                             Effort& effort) {
  if (!late_.passes(late_.levels().front(), registers_.data())) return std::nullopt;
  std::vector<Turn> way = {enter(diagram_.root(), 0, first)};
  while (!way.empty()) {
    Turn& turn = way.back();
    if (turn.next == turn.edges.size()) {
      way.pop_back();
      continue;
    }
    const Diagram::Edge& edge = turn.edges[turn.next++];
    const std::uint64_t before = turn.before + edge.before;
    if (before >= last || !effort.spend()) return std::nullopt;
    const std::size_t level = way.size();
    const RuleVariable& variable = late_.variable(level - 1);
    registers_[variable.reg] =
        edge.value == kAbsent ? Cell::unknown() : variable.values[edge.value];
    if (!late_.passes(late_.levels()[level], registers_.data())) continue;
    if (level + 1 == late_.levels().size()) return before;
    if (bounds_.broken(level, registers_.data())) continue;
    way.push_back(enter(edge.child, before, first));
  }
  return std::nullopt;
}

// The first edges lead to row `first`, or, where it lies before the node, to the node's first row.
LegalScan::Turn LegalScan::enter(DiagramNode node, std::uint64_t before,
                                 std::uint64_t first) const {
  Turn turn{diagram_.edges(node), 0, before};
  if (first <= before) return turn;
  const auto after = std::upper_bound(
      turn.edges.begin(), turn.edges.end(), first - before,
      [](std::uint64_t wanted, const Diagram::Edge& edge) { return wanted < edge.before; });
  turn.next = static_cast<std::size_t>(std::distance(turn.edges.begin(), after)) - 1;
  return turn;
}

std::optional<std::size_t> scan_from_places(
    Effort& effort, const std::function<std::size_t()>& place,
    const std::function<std::optional<std::size_t>(std::size_t place, Effort&)>& look) {
  constexpr std::size_t kFirstSteps = 1024;
  for (std::size_t steps = kFirstSteps; !effort.is_spent(); steps *= 2) {
    Effort part = effort.take(steps);
    const std::optional<std::size_t> found = look(place(), part);
    if (found || !part.is_spent()) return found;
  }
  return std::nullopt;
}

}  // namespace kiln
