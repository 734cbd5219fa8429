// LateRules: the rules of a space that its diagram leaves open, checked row by row. Private to
// search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/bounds.hpp"
#include "search/level_plan.hpp"
#include "search/rule_set.hpp"
#include "search/tunable_order.hpp"

namespace kiln {

/// Immutable; safe to use from many threads. Stays where it is: its bounds refer to it.
class LateRules {
 public:
  /// `late`: one flag a rule; at least one is set. `order`: of the diagram's columns.
  LateRules(RuleSet rules, const std::vector<bool>& late, TunableOrder order);
  LateRules(const LateRules&) = delete;
  LateRules& operator=(const LateRules&) = delete;

  /// Do the late rules hold for this row (one value index per tunable of the variant)?
  [[nodiscard]] bool hold(std::span<const ValueIndex> row) const;

  /// Computes and checks everything that one level completes (search/legal_scan.hpp). The registers
  /// of its operands must be set.
  [[nodiscard]] bool passes(const Level& level, expression::Cell* registers) const;
  /// Their bounds have refused nothing yet: to be copied.
  [[nodiscard]] const RuleSet& rules() const { return rules_; }
  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }
  [[nodiscard]] const RuleVariable& variable(std::size_t column) const {
    return rules_.variables()[order_.variables[column]];
  }

 private:
  RuleSet rules_;
  TunableOrder order_;
  std::vector<Level> levels_;
  Bounds bounds_;
};

}  // namespace kiln
