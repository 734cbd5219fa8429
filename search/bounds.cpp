// SPDX-License-Identifier: Apache-2.0
#include "search/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/expression/operations.hpp"

namespace kiln {
namespace {

using expression::Cell;
using expression::CellKind;
using expression::NetworkOpcode;
using expression::NetworkStep;
using expression::Operation;
using expression::Register;

constexpr double kExact = 0x1p53;       // integers up to here are exact in double
constexpr std::size_t kPatience = 256;  // combinations without a cut, then few are looked at
constexpr std::size_t kStride = 16;     // one of so many

Interval between(double low, double high) {
  const bool is_sound = low >= -kExact && high <= kExact && low <= high;
  return {low, high, !is_sound};
}

Interval point(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::boolean:
      return between(cell.boolean ? 1 : 0, cell.boolean ? 1 : 0);
    case CellKind::integer: {
      const auto number = static_cast<double>(cell.integer);
      return between(number, number);
    }
    case CellKind::real:
      return between(cell.real, cell.real);
    default:
      return {};
  }
}

Interval hull(std::initializer_list<double> corners) {
  return between(std::min(corners), std::max(corners));
}

/// A quotient by `divide`; open unless the divisor is positive.
template <typename Divide>
Interval quotient(const Interval& a, const Interval& b, const Divide& divide) {
  if (b.low <= 0) return {};
  return hull(
      {divide(a.low, b.low), divide(a.low, b.high), divide(a.high, b.low), divide(a.high, b.high)});
}

Interval truth(bool can_be_false, bool can_be_true) {
  return between(can_be_false ? 0 : 1, can_be_true ? 1 : 0);
}

Interval compare(Operation operation, const Interval& a, const Interval& b) {
  const bool apart = a.high < b.low || b.high < a.low;
  const bool same = a.low == a.high && b.low == b.high && a.low == b.low;
  switch (operation) {
    case Operation::less:
      return truth(a.high >= b.low, a.low < b.high);
    case Operation::less_equal:
      return truth(a.high > b.low, a.low <= b.high);
    case Operation::greater:
      return truth(b.high >= a.low, b.low < a.high);
    case Operation::greater_equal:
      return truth(b.high > a.low, b.low <= a.high);
    case Operation::equal:
      return truth(!same, !apart);
    default:  // not_equal
      return truth(!apart, !same);
  }
}

Interval arithmetic(Operation operation, const Interval& a, const Interval& b) {
  switch (operation) {
    case Operation::add:
      return between(a.low + b.low, a.high + b.high);
    case Operation::subtract:
      return between(a.low - b.high, a.high - b.low);
    case Operation::multiply:
      return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    case Operation::divide:
      return quotient(a, b, [](double x, double y) { return x / y; });
    case Operation::floor_divide:
      return quotient(a, b, [](double x, double y) { return expression::floor_divide(x, y); });
    case Operation::ceil_divide:
      return quotient(a, b, [](double x, double y) { return std::ceil(x / y); });
    case Operation::minimum:
      return between(std::min(a.low, b.low), std::min(a.high, b.high));
    case Operation::maximum:
      return between(std::max(a.low, b.low), std::max(a.high, b.high));
    case Operation::modulo:
      if (a.low < 0 || b.low <= 0) return {};
      return between(0, std::min(a.high, b.high));
    case Operation::negate:
      return between(-a.high, -a.low);
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::equal:
    case Operation::not_equal:
      return compare(operation, a, b);
    default:
      return {};
  }
}

bool is_false(const Interval& interval) {
  return !interval.is_open && interval.low == 0 && interval.high == 0;
}

bool can_be_false(const Interval& interval) { return interval.low <= 0 && interval.high >= 0; }

Interval either(const Interval& a, const Interval& b) {
  return between(std::min(a.low, b.low), std::max(a.high, b.high));
}

/// The first part where it is false, else the second.
Interval all_of(const Interval& a, const Interval& b) {
  if (is_false(a)) return a;
  return can_be_false(a) ? either(between(0, 0), b) : b;
}

/// The first part where it is true, else the second.
Interval any_of(const Interval& a, const Interval& b) {
  if (is_false(a)) return b;
  return can_be_false(a) ? either(a, b) : a;
}

Interval bound(const NetworkStep& step, const std::vector<Interval>& intervals) {
  const Interval& a = intervals[step.operands[0]];
  const Interval& b = intervals[step.operands[1]];
  if (a.is_open || b.is_open) return {};
  switch (step.opcode) {
    case NetworkOpcode::truth:
      return a;
    case NetworkOpcode::all_of:
      return all_of(a, b);
    case NetworkOpcode::any_of:
      return any_of(a, b);
    case NetworkOpcode::select: {
      const Interval& otherwise = intervals[step.operands[2]];
      return otherwise.is_open ? Interval{} : either(b, otherwise);
    }
    default:
      break;
  }
  const auto operation = static_cast<Operation>(step.opcode);
  if (operation == Operation::logical_not) return truth(!is_false(a), can_be_false(a));
  return arithmetic(operation, a, b);
}

}  // namespace

Bounds::Bounds(const RuleSet& rules, const std::vector<Level>& levels)
    : rules_(rules),
      levels_(levels),
      intervals_(rules.network().steps().size()),
      outlooks_(levels.size()) {
  for (Register reg = 0; reg < intervals_.size(); ++reg) {
    if (rules.network().is_constant(reg)) intervals_[reg] = point(rules.network().registers()[reg]);
  }
  for (const RuleVariable& variable : rules.variables()) {
    if (variable.when) continue;
    Interval all = point(variable.values.front());
    for (const Cell& value : variable.values) {
      const Interval one = point(value);
      all = {std::min(all.low, one.low), std::max(all.high, one.high), all.is_open || one.is_open};
    }
    intervals_[variable.reg] = all;
  }
  open_ = intervals_;
  for (std::size_t level = 0; level + 2 < levels.size(); ++level) look_ahead(level);
}

// The rules that a level's values have a part in, and the steps to their answers.
void Bounds::look_ahead(std::size_t level) {
  std::vector<bool> touched(intervals_.size(), false);
  for (const Register reg : levels_[level].live) touched[reg] = true;
  std::vector<NetworkStep> later;
  for (std::size_t l = level + 1; l < levels_.size(); ++l) {
    for (const NetworkStep& step : levels_[l].steps) {
      later.push_back(step);
      const auto& operands = step.operands;
      touched[step.dst] = std::any_of(operands.begin(), operands.end(),
                                      [&](Register operand) { return touched[operand]; });
    }
  }
  Outlook& outlook = outlooks_[level];
  std::vector<bool> needed(intervals_.size(), false);
  // What the very next value decides is not worth a look ahead.
  for (std::size_t l = level + 2; l < levels_.size(); ++l) {
    for (const LevelCheck& check : levels_[l].checks) {
      const Rule& rule = rules_.rules()[check.rule];
      if (rule.kind != Rule::Kind::require && rule.kind != Rule::Kind::limits) continue;
      bool any = false;
      const auto use = [&](Register reg) {
        any = any || touched[reg];
        needed[reg] = true;
      };
      if (check.part) {
        use(*check.part);
      } else {
        for (const RuleOperand& operand : rule.operands) use(operand.reg);
      }
      if (any) outlook.checks.push_back(check);
    }
  }
  for (auto step = later.rbegin(); step != later.rend(); ++step) {
    if (!needed[step->dst]) continue;
    for (const Register operand : step->operands) needed[operand] = true;
    outlook.steps.push_back(*step);
  }
  std::reverse(outlook.steps.begin(), outlook.steps.end());
}

std::optional<std::size_t> Bounds::broken(std::size_t level, const Cell* registers) {
  Outlook& outlook = outlooks_[level];
  if (outlook.checks.empty()) return std::nullopt;
  if (++outlook.idle > kPatience && outlook.idle % kStride != 0) return std::nullopt;
  // A scan may have gone back: what it had set beyond this level is open again.
  for (const RuleVariable& variable : rules_.variables())
    intervals_[variable.reg] = open_[variable.reg];
  for (const Register reg : levels_[level].live) intervals_[reg] = point(registers[reg]);
  for (const NetworkStep& step : outlook.steps) intervals_[step.dst] = bound(step, intervals_);
  for (const LevelCheck& check : outlook.checks) {
    if (!is_lost(check)) continue;
    outlook.idle = 0;
    return check.rule;
  }
  return std::nullopt;
}

bool Bounds::is_lost(const LevelCheck& check) const {
  const Rule& rule = rules_.rules()[check.rule];
  if (check.part) return is_false(intervals_[*check.part]);
  if (rule.kind == Rule::Kind::require) return is_false(intervals_[rule.operands.front().reg]);
  double product = 1;
  bool lost = false;
  for (std::size_t d = 0; d < rule.operands.size(); ++d) {
    const Interval& extent = intervals_[rule.operands[d].reg];
    if (extent.is_open) return false;
    product *= std::max(extent.low, 0.0);
    lost = lost || extent.low > static_cast<double>(rule.limits->high[d]) ||
           extent.high < static_cast<double>(rule.limits->low);
  }
  return lost || (rule.limits->product > 0 && product > static_cast<double>(rule.limits->product));
}

}  // namespace kiln
