// SPDX-License-Identifier: Apache-2.0
#include "search/rule_set.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/constraint_text.hpp"
#include "core/expression/operations.hpp"
#include "core/expression/tree.hpp"

namespace kiln {
namespace {

using expression::Cell;
using expression::CellKind;
using expression::Register;
using Needs = RuleOperand::Needs;

// Nothing for strings and faults.
std::optional<bool> truth_of(const Cell& cell) {
  const Cell truth = expression::to_condition(cell);
  if (truth.kind != CellKind::boolean) return std::nullopt;
  return truth.boolean;
}

std::optional<std::int64_t> whole_of(const Cell& cell) {
  if (cell.kind == CellKind::integer) return cell.integer;
  const bool is_whole = cell.kind == CellKind::real && std::abs(cell.real) < 0x1p63 &&
                        std::trunc(cell.real) == cell.real;
  if (is_whole) return static_cast<std::int64_t>(cell.real);
  return std::nullopt;
}

RuleSet::Answer check_truth(const Cell& cell) {
  if (cell.kind == CellKind::unknown) return RuleSet::Answer::holds;
  const std::optional<bool> truth = truth_of(cell);
  if (!truth) return RuleSet::Answer::fault;
  return *truth ? RuleSet::Answer::holds : RuleSet::Answer::broken;
}

// What depends on a tunable that does not exist has no value: the rule does not apply.
RuleSet::Answer check_extents(const LaunchLimits& limits, std::span<const RuleOperand> extents,
                              const Cell* registers) {
  std::int64_t product = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const Cell& cell = registers[extents[d].reg];
    if (cell.kind == CellKind::unknown) return RuleSet::Answer::holds;
    const std::optional<std::int64_t> extent = whole_of(cell);
    if (!extent) return RuleSet::Answer::fault;
    if (*extent < limits.low || *extent > limits.high[d]) return RuleSet::Answer::broken;
    if (limits.product == 0) continue;
    product *= *extent;  // bounded by the limits of the dimensions
    if (product > limits.product) return RuleSet::Answer::broken;
  }
  return RuleSet::Answer::holds;
}

RuleReport::Kind reported_kind(Rule::Kind kind) {
  switch (kind) {
    case Rule::Kind::when:
      return RuleReport::Kind::when;
    case Rule::Kind::derived:
      return RuleReport::Kind::derived;
    case Rule::Kind::require:
      return RuleReport::Kind::constraint;
    default:
      return RuleReport::Kind::launch_limit;
  }
}

// What is wrong with the value of an operand; empty: nothing.
std::string operand_fault(const RuleOperand& operand, const Scope& scope) {
  try {
    const std::optional<Value> value = evaluate_known(operand.expression, scope);
    if (!value || operand.needs == Needs::anything) return "";
    expression::Network network;
    const Cell cell = network.own(*value);
    const bool truth = operand.needs == Needs::truth;
    if (truth ? truth_of(cell).has_value() : whole_of(cell).has_value()) return "";
    return EvaluationError(
               operand.expression.where(),
               fmt::format("'{}' gives {} where {} is needed", operand.expression.text(),
                           to_text(*value), truth ? "true or false" : "a whole number"))
        .what();
  } catch (const EvaluationError& error) {
    return error.what();
  }
}

}  // namespace

RuleSet::RuleSet(const Variant& variant, Scope constants, const DeviceInfo* device)
    : constants_(std::move(constants)) {
  add_tunables(variant);
  for (const Derived& derived : variant.derived) {
    const RuleOperand value = operand(derived.value, Needs::anything);
    names_[derived.name] = value.reg;
    add_rule({Rule::Kind::derived, {value}, {}, {}}, derived.value.text(),
             fmt::format("derived '{}'", derived.name));
  }
  for (const Constraint& constraint : variant.constraints) {
    const RuleOperand value = operand(constraint.require, Needs::truth);
    add_rule({Rule::Kind::require, {value}, {}, parts_of(value.reg)}, constraint.require.text(),
             constraint.because);
  }
  if (device == nullptr) return;
  for (const Step& step : variant.steps) {
    if (step.kind == StepKind::launch) add_launch_limits(step, *device);
  }
}

RuleSet::Answer RuleSet::check(const Rule& rule, const Cell* registers) {
  const Cell& first = registers[rule.operands.front().reg];
  const std::span<const RuleOperand> operands = rule.operands;
  switch (rule.kind) {
    case Rule::Kind::when:
      return check_truth(first) == Answer::fault ? Answer::fault : Answer::holds;
    case Rule::Kind::derived:
      // A derived value must fit into 64 bits.
      return first.kind == CellKind::fault || first.kind == CellKind::wide ? Answer::fault
                                                                           : Answer::holds;
    case Rule::Kind::require:
      return check_truth(first);
    case Rule::Kind::limits:
      return check_extents(*rule.limits, operands, registers);
    default:
      break;
  }
  if (first.kind == CellKind::unknown) return Answer::holds;
  const std::optional<bool> applies = truth_of(first);
  if (!applies) return Answer::fault;
  return *applies ? check_extents(*rule.limits, operands.subspan(1), registers) : Answer::holds;
}

void RuleSet::add_tunables(const Variant& variant) {
  for (std::size_t t = 0; t < variant.tunables.size(); ++t) {
    const Tunable& tunable = variant.tunables[t];
    if (tunable.values.size() == 1 && !tunable.when) {
      names_[tunable.name] = network_.add_constant(&tunable.values.front());
      continue;
    }
    RuleVariable variable;
    variable.tunable = t;
    if (tunable.when) {
      Rule when{Rule::Kind::when, {operand(*tunable.when, Needs::truth)}, {}, {}};
      variable.when = add_rule(std::move(when), tunable.when->text(),
                               fmt::format("'when' of '{}'", tunable.name));
    }
    variable.reg = network_.add_variable();
    for (const Value& value : tunable.values) variable.values.push_back(network_.own(value));
    names_[tunable.name] = variable.reg;
    variables_.push_back(std::move(variable));
  }
}

void RuleSet::add_launch_limits(const Step& step, const DeviceInfo& device) {
  add_extents(step, step.block, "block", block_limits(device));
  add_extents(step, step.grid, "grid", grid_limits(device));
  for (std::size_t d = 0; d < std::min(step.grid.size(), step.block.size()); ++d) {
    const LaunchLimits limits = thread_limits(device, d);
    const bool is_implied =
        limits.high[0] <= limits.product / std::max<std::int64_t>(limits.high[1], 1);
    if (is_implied) continue;
    add_extents(step, {step.grid[d], step.block[d]}, fmt::format("threads {}", "xyz"[d]), limits);
  }
  if (step.shared_bytes) {
    add_extents(step, {*step.shared_bytes}, "shared_bytes", shared_limits(device));
  }
  for (const Derived& local : step.local)
    add_extents(step, {local.value}, "local " + local.name, shared_limits(device));
}

void RuleSet::add_extents(const Step& step, const std::vector<Expression>& extents,
                          std::string_view what, const LaunchLimits& limits) {
  Rule rule{Rule::Kind::limits, {}, limits, {}};
  if (step.when) {
    rule.kind = Rule::Kind::limits_when;
    rule.operands.push_back(operand(*step.when, Needs::truth));
  }
  for (const Expression& extent : extents) {
    rule.operands.push_back(operand(extent, Needs::whole_number));
  }
  std::vector<std::string> texts;
  for (const Expression& extent : extents) texts.push_back(extent.text());
  add_rule(std::move(rule), fmt::format("{} of step '{}'", what, step.entry.text()),
           fmt::format("the launch must stay within the device's limits: {} = {}", what,
                       fmt::join(texts, " x ")));
}

std::size_t RuleSet::add_rule(Rule rule, std::string text, std::string because) {
  const RuleReport::Kind kind = reported_kind(rule.kind);
  rules_.push_back(std::move(rule));
  reports_.push_back({std::move(text), std::move(because), kind, 0, {}});
  return rules_.size() - 1;
}

RuleOperand RuleSet::operand(const Expression& expression, Needs needs) {
  const expression::Tree& tree = expression.tree();
  std::vector<Register> registers;
  for (const std::string& name : tree.names) {
    const auto known = names_.find(name);
    registers.push_back(known != names_.end() ? known->second
                                              : network_.add_constant(constants_.find(name)));
  }
  return {expression, network_.add(tree, registers), needs};
}

std::vector<Register> RuleSet::parts_of(Register root) const {
  std::vector<Register> parts;
  if (may_be_unknown(root)[root]) return parts;
  const auto& steps = network_.steps();
  while (steps[root].opcode == expression::NetworkOpcode::all_of) {
    parts.push_back(steps[root].operands[1]);
    root = steps[root].operands[0];
  }
  if (parts.empty()) return parts;
  parts.push_back(root);
  return parts;
}

// Per register up to `root`: does it depend on a name without a value, or on a tunable that may be
// absent?
std::vector<bool> RuleSet::may_be_unknown(Register root) const {
  std::vector<bool> unknown(root + 1, false);
  for (const RuleVariable& variable : variables_) {
    if (variable.reg <= root) unknown[variable.reg] = variable.when.has_value();
  }
  for (Register reg = 0; reg <= root; ++reg) {
    if (network_.is_constant(reg)) {
      unknown[reg] = network_.registers()[reg].kind == CellKind::unknown;
      continue;
    }
    for (const Register operand : network_.steps()[reg].operands) {
      unknown[reg] = unknown[reg] || unknown[operand];
    }
  }
  return unknown;
}

std::string RuleSet::fault_text(std::size_t rule, const Variant& variant,
                                std::span<const ValueIndex> row) const {
  Scope scope = constants_;
  for (std::size_t t = 0; t < row.size(); ++t) {
    if (row[t] != kAbsent) scope.set(variant.tunables[t].name, variant.tunables[t].values[row[t]]);
  }
  const auto is_derived = rules_[rule].kind == Rule::Kind::derived;
  for (const Derived& derived : variant.derived) {
    if (is_derived && derived.value.text() == reports_[rule].rule) break;
    try {
      if (auto value = evaluate_known(derived.value, scope)) {
        scope.set(derived.name, *std::move(value));
      }
    } catch (const EvaluationError&) {
      continue;  // one that this rule does not need
    }
  }
  for (const RuleOperand& operand : rules_[rule].operands) {
    std::string text = operand_fault(operand, scope);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace kiln
