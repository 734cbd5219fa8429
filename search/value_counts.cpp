// SPDX-License-Identifier: Apache-2.0
#include "search/value_counts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/expression/numbers.hpp"

namespace kiln {
namespace {

using expression::Cell;
using expression::NetworkOpcode;
using expression::NetworkStep;
using expression::Register;

constexpr double kMaxListed = 512;  // combinations of operands

void keep_different(std::vector<Cell>& cells) {
  const auto key = [](const Cell& cell) {
    const Cell narrow = expression::narrowed(cell);
    return std::pair(narrow.kind, bits_of(narrow));
  };
  std::sort(cells.begin(), cells.end(),
            [&](const Cell& a, const Cell& b) { return key(a) < key(b); });
  cells.erase(std::unique(cells.begin(), cells.end(),
                          [&](const Cell& a, const Cell& b) { return key(a) == key(b); }),
              cells.end());
}

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kSeveral = kNone - 1;

std::size_t either(std::size_t a, std::size_t b) {
  if (a == b || b == kNone) return a;
  return a == kNone ? b : kSeveral;
}

// Per register: the variable that it depends on, kNone or kSeveral.
std::vector<std::size_t> only_variables(const RuleSet& rules) {
  const std::vector<NetworkStep>& steps = rules.network().steps();
  std::vector<std::size_t> only(steps.size(), kNone);
  for (std::size_t v = 0; v < rules.variables().size(); ++v) only[rules.variables()[v].reg] = v;
  for (Register reg = 0; reg < steps.size(); ++reg) {
    if (steps[reg].opcode == NetworkOpcode::leaf) continue;
    for (const Register operand : steps[reg].operands) only[reg] = either(only[reg], only[operand]);
  }
  return only;
}

}  // namespace

ValueCounts::ValueCounts(const RuleSet& rules)
    : rules_(rules),
      scratch_(rules.network().registers()),
      entries_(rules.network().registers().size()) {
  for (const RuleVariable& variable : rules.variables()) {
    Entry& entry = entries_[variable.reg];
    entry.values = variable.values;
  }
  keep_allowed_values();
  for (const RuleVariable& variable : rules.variables()) {
    Entry& entry = entries_[variable.reg];
    if (variable.when) entry.values.push_back(Cell::unknown());
    entry.count = std::max(1.0, static_cast<double>(entry.values.size()));
  }
}

void ValueCounts::keep_allowed_values() {
  const std::vector<std::size_t> only = only_variables(rules_);
  const std::vector<NetworkStep>& steps = rules_.network().steps();
  std::vector<Cell> cells = rules_.network().registers();
  std::vector<std::vector<const Rule*>> rules_of(rules_.variables().size());
  for (const Rule& rule : rules_.rules()) {
    std::size_t variable = kNone;
    for (const RuleOperand& operand : rule.operands) variable = either(variable, only[operand.reg]);
    if (variable != kNone && variable != kSeveral) rules_of[variable].push_back(&rule);
  }
  for (std::size_t v = 0; v < rules_of.size(); ++v) {
    if (rules_of[v].empty()) continue;
    const Register own = rules_.variables()[v].reg;
    std::erase_if(entries_[own].values, [&](const Cell& value) {
      cells[own] = value;
      for (Register reg = 0; reg < steps.size(); ++reg) {
        if (only[reg] == v && reg != own) expression::run(steps[reg], cells.data());
      }
      return std::ranges::any_of(rules_of[v], [&](const Rule* rule) {
        return RuleSet::check(*rule, cells.data()) != RuleSet::Answer::holds;
      });
    });
  }
}

double ValueCounts::of(Register reg) {
  compute(reg);
  return entries_[reg].count;
}

// Operands have smaller numbers, so the recursion ends; each register is computed once.
void ValueCounts::compute(Register reg) {
  Entry& entry = entries_[reg];
  if (entry.count != 0) return;
  if (rules_.network().steps()[reg].opcode == NetworkOpcode::leaf) {
    entry.values = {rules_.network().registers()[reg]};
    entry.count = 1;
    return;
  }
  for (const Register operand : rules_.network().steps()[reg].operands) compute(operand);
  compute_step(reg, entry);
}

void ValueCounts::compute_step(Register reg, Entry& entry) {
  const NetworkStep& step = rules_.network().steps()[reg];
  std::vector<Register> operands;
  for (const Register operand : step.operands) {
    const bool repeated = std::find(operands.begin(), operands.end(), operand) != operands.end();
    if (!repeated) operands.push_back(operand);
  }
  entry.count = 1;
  bool listed = true;
  for (const Register operand : operands) {
    entry.count *= entries_[operand].count;
    listed = listed && !entries_[operand].values.empty();
  }
  if (!listed || entry.count > kMaxListed) return;
  const auto combinations = static_cast<std::size_t>(entry.count);
  for (std::size_t i = 0; i < combinations; ++i) {
    std::size_t rest = i;
    for (const Register operand : operands) {
      const std::vector<Cell>& values = entries_[operand].values;
      scratch_[operand] = values[rest % values.size()];
      rest /= values.size();
    }
    expression::run(step, scratch_.data());
    entry.values.push_back(scratch_[reg]);
  }
  keep_different(entry.values);
  entry.count = static_cast<double>(entry.values.size());
}

}  // namespace kiln
