// SPDX-License-Identifier: Apache-2.0
#include "search/value_counts.hpp"

#include <algorithm>
#include <utility>

namespace kiln {
namespace {

using expression::Cell;
using expression::NetworkOpcode;
using expression::NetworkStep;
using expression::Register;

constexpr double kMaxListed = 512;  // combinations of operands

void keep_different(std::vector<Cell>& cells) {
  const auto key = [](const Cell& cell) { return std::pair(cell.kind, bits_of(cell)); };
  std::sort(cells.begin(), cells.end(),
            [&](const Cell& a, const Cell& b) { return key(a) < key(b); });
  cells.erase(std::unique(cells.begin(), cells.end(),
                          [&](const Cell& a, const Cell& b) { return key(a) == key(b); }),
              cells.end());
}

}  // namespace

ValueCounts::ValueCounts(const RuleSet& rules)
    : rules_(rules),
      scratch_(rules.network().registers()),
      entries_(rules.network().registers().size()) {
  for (const RuleVariable& variable : rules.variables()) {
    Entry& entry = entries_[variable.reg];
    entry.values = variable.values;
    if (variable.when) entry.values.push_back(Cell::unknown());
    entry.count = static_cast<double>(entry.values.size());
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
