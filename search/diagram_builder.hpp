// From rules to a diagram of all legal rows. Private to search.
//
// Forwards, level by level, the states that combinations can be in (state_layer.hpp): each state
// takes every value of the next tunable, computes what that completes and drops what a rule
// refuses. Backwards, from the last level, the nodes of the diagram. The work is in proportion to
// the number of states, not of combinations or configs.
//
// A set of rules that needs too many states is not refused: the rule that needs most is set aside
// (`late`), until the rest fits. The diagram then holds more than the legal rows, and those who
// use it check the late rules row by row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "search/diagram.hpp"
#include "search/rule_set.hpp"
#include "search/tunable_order.hpp"

namespace kiln {

struct BuiltDiagram {
  Diagram diagram;  ///< one column per variable of the rules, in the order below
  TunableOrder order;
  std::vector<bool> late;        ///< per rule: not looked at yet
  std::vector<RuleReport> cuts;  ///< one per rule
  std::size_t states = 0;        ///< that were looked at
};

/// `variant`: whose rules they are. Throws InputError when there are more rows than an index can
/// name.
[[nodiscard]] BuiltDiagram build_diagram(const RuleSet& rules, const Variant& variant,
                                         std::size_t max_states);

}  // namespace kiln
