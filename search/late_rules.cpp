// SPDX-License-Identifier: Apache-2.0
#include "search/late_rules.hpp"

#include <algorithm>
#include <utility>

namespace kiln {

using expression::Cell;
using expression::NetworkStep;
namespace {

std::vector<bool> opposite(std::vector<bool> flags) {
  flags.flip();
  return flags;
}

}  // namespace

LateRules::LateRules(RuleSet rules, const std::vector<bool>& late, TunableOrder order)
    : rules_(std::move(rules)),
      order_(std::move(order)),
      levels_(plan_levels(rules_, order_, opposite(late))),
      bounds_(rules_, levels_) {}

bool LateRules::hold(std::span<const ValueIndex> row) const {
  std::vector<Cell> registers = rules_.network().registers();
  for (const RuleVariable& variable : rules_.variables()) {
    const ValueIndex value = row[variable.tunable];
    registers[variable.reg] = value == kAbsent ? Cell::unknown() : variable.values[value];
  }
  return std::all_of(levels_.begin(), levels_.end(),
                     [&](const Level& level) { return passes(level, registers.data()); });
}

bool LateRules::passes(const Level& level, Cell* registers) const {
  for (const NetworkStep& step : level.steps) expression::run(step, registers);
  return std::all_of(level.checks.begin(), level.checks.end(), [&](const LevelCheck& check) {
    return check_at(check, rules_, registers) == RuleSet::Answer::holds;
  });
}

}  // namespace kiln
