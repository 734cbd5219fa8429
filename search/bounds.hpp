// Bounds: refuses a partial combination when no values of the open tunables can mend it.
//
// Every number that a rule will compute from tunables without a value yet lies in an interval, from
// the least to the greatest of their values: tile * (2 + a) * 4 <= limit is lost when it is lost
// for the smallest a. Only what cannot be otherwise counts: names that may have no value, texts,
// and operations that are not monotone leave an interval open. Private to search.
//
// Method: interval arithmetic as in R. Moore, "Interval Analysis" (1966).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/level_plan.hpp"
#include "search/rule_set.hpp"

namespace kiln {

/// The values that a register may take; truth values are 0 and 1.
struct Interval {
  double low = 0;
  double high = 0;
  bool is_open = true;  ///< nothing is known
};

class Bounds {
 public:
  /// `rules` and `levels` must outlive the bounds.
  Bounds(const RuleSet& rules, const std::vector<Level>& levels);

  /// A rule that every continuation of a combination at `level` breaks; its live registers are set.
  /// At a level where this has not refused anything for long, few combinations are looked at.
  [[nodiscard]] std::optional<std::size_t> broken(std::size_t level,
                                                  const expression::Cell* registers);

 private:
  /// What a level can say of the rules that are still open there.
  struct Outlook {
    std::vector<expression::NetworkStep> steps;
    std::vector<LevelCheck> checks;
    std::size_t idle = 0;  // combinations since the last one that was refused
  };
  void look_ahead(std::size_t level);
  [[nodiscard]] bool is_lost(const LevelCheck& check) const;

  const RuleSet& rules_;
  const std::vector<Level>& levels_;
  std::vector<Interval> intervals_;  // per register
  std::vector<Outlook> outlooks_;    // per level
};

}  // namespace kiln
