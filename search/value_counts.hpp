// How many different values a register of a rule network can have. Private to search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/rule_set.hpp"

namespace kiln {

/// Upper estimates. Operands count as independent. If there are few combinations, their results are
/// computed; otherwise each counts as different. Considers only the values of a tunable that its
/// own rules allow. Each count is computed once, when it is first requested.
class ValueCounts {
 public:
  /// `rules` must outlive the counts.
  explicit ValueCounts(const RuleSet& rules);

  /// At least 1.
  [[nodiscard]] double of(expression::Register reg);

 private:
  struct Entry {
    double count = 0;                      // 0: not asked yet
    std::vector<expression::Cell> values;  // where they are few; empty: not listed
  };
  void keep_allowed_values();
  void compute(expression::Register reg);
  void compute_step(expression::Register reg, Entry& entry);

  const RuleSet& rules_;
  std::vector<expression::Cell> scratch_;
  std::vector<Entry> entries_;
};

}  // namespace kiln
