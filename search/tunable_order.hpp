// The order in which a space assigns its tunables. Private to search.
//
// Two combinations are one state if they agree in all values that later rules still need. The order
// is chosen so that these values are few, by estimate. Any order gives the same configs, if it
// assigns each tunable after the tunables of its `when`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "search/rule_set.hpp"

namespace kiln {

struct TunableOrder {
  /// Indices into RuleSet::variables(), first assigned first.
  std::vector<std::size_t> variables;
  /// Independent parts: no rule speaks of tunables of two of them. Lengths of consecutive runs of
  /// `variables`.
  std::vector<std::size_t> parts;
};

/// The same rules give the same order, on every machine. Rules marked in `ignored` are not looked
/// at (one flag a rule).
[[nodiscard]] TunableOrder choose_order(const RuleSet& rules, const std::vector<bool>& ignored);

/// The order of the spec, part by part: what its author thought of together often stands together.
[[nodiscard]] TunableOrder given_order(const RuleSet& rules, const std::vector<bool>& ignored);

}  // namespace kiln
