// SPDX-License-Identifier: Apache-2.0
#include "search/level_plan.hpp"

#include <algorithm>

#include "core/expression/operations.hpp"

namespace kiln {
namespace {

using expression::Cell;
using expression::CellKind;
using expression::NetworkOpcode;
using expression::Register;

class Planner {
 public:
  Planner(const RuleSet& rules, const TunableOrder& order, const std::vector<bool>& ignored)
      : rules_(rules),
        order_(order),
        ignored_(ignored),
        levels_(order.variables.size() + 1),
        level_(rules.network().steps().size(), 0),
        last_use_(level_.size(), 0),
        needed_(level_.size(), false) {}

  std::vector<Level> plan() {
    mark_needed();
    find_levels();
    place_checks();
    place_steps();
    find_live();
    return std::move(levels_);
  }

 private:
  void mark_needed() {
    for (std::size_t r = 0; r < rules_.rules().size(); ++r) {
      if (ignored_[r]) continue;
      for (const RuleOperand& operand : rules_.rules()[r].operands) needed_[operand.reg] = true;
    }
    for (std::size_t reg = needed_.size(); reg-- > 0;) {
      if (!needed_[reg]) continue;
      for (const Register operand : rules_.network().steps()[reg].operands) needed_[operand] = true;
    }
  }

  void find_levels() {
    for (std::size_t p = 0; p < order_.variables.size(); ++p) {
      level_[rules_.variables()[order_.variables[p]].reg] = p + 1;
    }
    for (Register reg = 0; reg < level_.size(); ++reg) {
      for (const Register operand : rules_.network().steps()[reg].operands) {
        level_[reg] = std::max(level_[reg], level_[operand]);
      }
    }
  }

  void place_checks() {
    for (std::size_t r = 0; r < rules_.rules().size(); ++r) {
      if (ignored_[r]) continue;
      const Rule& rule = rules_.rules()[r];
      std::size_t level = 0;
      for (const RuleOperand& operand : rule.operands) {
        level = std::max(level, level_[operand.reg]);
      }
      for (const RuleOperand& operand : rule.operands) use(operand.reg, level);
      for (const Register part : rule.parts) {
        if (level_[part] < level) levels_[level_[part]].checks.push_back({r, part});
      }
      levels_[level].checks.push_back({r, std::nullopt});
    }
    for (std::size_t p = 0; p < order_.variables.size(); ++p) {
      const auto& when = rules_.variables()[order_.variables[p]].when;
      if (when) use(rules_.rules()[*when].operands.front().reg, p + 1);
    }
  }

  void place_steps() {
    for (const expression::NetworkStep& step : rules_.network().steps()) {
      const bool runs = step.opcode != NetworkOpcode::leaf && needed_[step.dst];
      if (!runs) continue;
      levels_[level_[step.dst]].steps.push_back(step);
      for (const Register operand : step.operands) use(operand, level_[step.dst]);
    }
  }

  void find_live() {
    for (Register reg = 0; reg < level_.size(); ++reg) {
      if (rules_.network().is_constant(reg)) continue;
      for (std::size_t k = level_[reg]; k < last_use_[reg]; ++k) levels_[k].live.push_back(reg);
    }
  }

  void use(Register reg, std::size_t level) { last_use_[reg] = std::max(last_use_[reg], level); }

  const RuleSet& rules_;
  const TunableOrder& order_;
  const std::vector<bool>& ignored_;
  std::vector<Level> levels_;
  std::vector<std::size_t> level_;     // per register
  std::vector<std::size_t> last_use_;  // per register: the last level that reads it
  std::vector<bool> needed_;
};

}  // namespace

std::vector<Level> plan_levels(const RuleSet& rules, const TunableOrder& order,
                               const std::vector<bool>& ignored) {
  return Planner(rules, order, ignored).plan();
}

RuleSet::Answer check_at(const LevelCheck& check, const RuleSet& rules, const Cell* registers) {
  if (!check.part) return RuleSet::check(rules.rules()[check.rule], registers);
  const Cell part = expression::to_condition(registers[*check.part]);
  const bool refuses = part.kind == CellKind::boolean && !part.boolean;
  return refuses ? RuleSet::Answer::broken : RuleSet::Answer::holds;
}

}  // namespace kiln
