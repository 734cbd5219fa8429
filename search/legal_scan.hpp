// LegalScan: finds the next row of a diagram for which the late rules hold, too. Private to search.
//
// Depth first, with backtracking: each late rule is checked as soon as the values that it needs are
// chosen, and bounds look ahead, so that rows with a doomed beginning are passed over together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "search/bounds.hpp"
#include "search/diagram.hpp"
#include "search/effort.hpp"
#include "search/late_rules.hpp"

namespace kiln {

/// Not thread-safe. The diagram and the rules must outlive it.
class LegalScan {
 public:
  LegalScan(const Diagram& diagram, const LateRules& late);

  /// The first legal row in [first, last). nullopt: there is none, or the effort was spent before
  /// that was known (a step for each value that is tried).
  [[nodiscard]] std::optional<std::uint64_t> next(std::uint64_t first, std::uint64_t last,
                                                  Effort& effort);

 private:
  /// A node on the way down, and the edge to be tried next.
  struct Turn {
    std::span<const Diagram::Edge> edges;
    std::size_t next = 0;
    std::uint64_t before = 0;  // rows before those of the node
  };
  [[nodiscard]] Turn enter(DiagramNode node, std::uint64_t before, std::uint64_t first) const;

  const Diagram& diagram_;
  const LateRules& late_;
  Bounds bounds_;
  std::vector<expression::Cell> registers_;
};

/// Scans from random places, since a single scan may find nothing for long after an unlucky start.
/// Calls `look` for one random `place` after another, each time with twice the effort. Ends when
/// `look` finds an index, when it has scanned everything (nullopt with effort left), or when the
/// effort is spent.
[[nodiscard]] std::optional<std::size_t> scan_from_places(
    Effort& effort, const std::function<std::size_t()>& place,
    const std::function<std::optional<std::size_t>(std::size_t place, Effort&)>& look);

}  // namespace kiln
