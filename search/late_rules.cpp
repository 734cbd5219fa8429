// SPDX-License-Identifier: Apache-2.0
#include "search/late_rules.hpp"

#include <algorithm>
#include <utility>

namespace kiln {

using expression::Cell;
using expression::NetworkOpcode;
using expression::NetworkStep;
using expression::Register;

LateRules::LateRules(RuleSet rules, const std::vector<bool>& late) : rules_(std::move(rules)) {
  const std::vector<NetworkStep>& steps = rules_.network().steps();
  std::vector<bool> needed(steps.size(), false);
  for (std::size_t r = 0; r < late.size(); ++r) {
    if (!late[r]) continue;
    late_.push_back(r);
    for (const RuleOperand& operand : rules_.rules()[r].operands) needed[operand.reg] = true;
  }
  for (std::size_t reg = steps.size(); reg-- > 0;) {
    if (!needed[reg] || steps[reg].opcode == NetworkOpcode::leaf) continue;
    for (const Register operand : steps[reg].operands) needed[operand] = true;
    steps_.push_back(steps[reg]);
  }
  std::reverse(steps_.begin(), steps_.end());
}

bool LateRules::hold(std::span<const ValueIndex> row) const {
  std::vector<Cell> registers = rules_.network().registers();
  for (const RuleVariable& variable : rules_.variables()) {
    const ValueIndex value = row[variable.tunable];
    if (value != kAbsent) registers[variable.reg] = variable.values[value];
  }
  for (const NetworkStep& step : steps_) expression::run(step, registers.data());
  return std::all_of(late_.begin(), late_.end(), [&](std::size_t rule) {
    return RuleSet::check(rules_.rules()[rule], registers.data()) == RuleSet::Answer::holds;
  });
}

}  // namespace kiln
