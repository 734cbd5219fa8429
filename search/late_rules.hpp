// LateRules: the rules of a space that its diagram leaves open, checked row by row. Private to
// search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "search/rule_set.hpp"

namespace kiln {

/// Immutable; safe to use from many threads.
class LateRules {
 public:
  /// `late`: one flag a rule; at least one is set.
  LateRules(RuleSet rules, const std::vector<bool>& late);

  /// Do the late rules hold for this row (one value index per tunable of the variant)?
  [[nodiscard]] bool hold(std::span<const ValueIndex> row) const;

 private:
  RuleSet rules_;
  std::vector<std::size_t> late_;               // indices of rules
  std::vector<expression::NetworkStep> steps_;  // that they need
};

}  // namespace kiln
