// Builds the diagram of all legal rows from the rules of a variant. Private to search.
//
// The first pass goes forwards over the levels and collects states (state_layer.hpp). It extends
// each state by every value of the next tunable, computes the completed operations, and drops
// combinations that break a rule. The second pass goes backwards and writes the nodes. The work is
// proportional to the number of states, not of combinations or configs.
//
// If the rules need too many states, the rule that needs most of them is set aside (`late`), until
// the rest fits. The diagram then also holds illegal rows. Its users check the late rules per row.
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
