// Bounds: refuses a partial combination if no values of the open tunables can make it legal.
//
// Each open tunable has an interval from its smallest to its largest value, and so has each number
// that a rule computes from it. For example, tile * (2 + a) * 4 <= limit fails for every a if it
// fails for the smallest a. Names that may have no value, texts, and operations that are not
// monotone have no bounds. Private to search.
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

  /// Returns a rule that every continuation of a combination at `level` breaks. The combination's
  /// live registers must be set. Checks few combinations at a level that has refused none for long.
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
  std::vector<Interval> open_;       // the same before any value is chosen
  std::vector<Outlook> outlooks_;    // per level
};

}  // namespace kiln
