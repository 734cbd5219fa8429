// LevelPlan: lists the operations to compute, the rules to check and the registers to keep after
// each tunable gets its value. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/rule_set.hpp"
#include "search/tunable_order.hpp"

namespace kiln {

/// A rule whose operands have their values, or a part of one that may refuse early.
struct LevelCheck {
  std::size_t rule = 0;
  std::optional<expression::Register> part;
};

/// Level k: the first k variables of the order have values.
struct Level {
  std::vector<expression::NetworkStep> steps;  ///< in the order in which they can run
  std::vector<LevelCheck> checks;              ///< in the order of the rules
  /// Registers that later levels still need: two combinations that agree in them have the same
  /// future.
  std::vector<expression::Register> live;
};

/// One level more than the order has variables. Ignored rules (one flag a rule) are left out.
[[nodiscard]] std::vector<Level> plan_levels(const RuleSet& rules, const TunableOrder& order,
                                             const std::vector<bool>& ignored);

/// Does the check let the combination pass? `registers` are those of the rules' network.
[[nodiscard]] RuleSet::Answer check_at(const LevelCheck& check, const RuleSet& rules,
                                       const expression::Cell* registers);

}  // namespace kiln
