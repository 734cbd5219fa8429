// SPDX-License-Identifier: Apache-2.0
#include "search/rule_set.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kiln {
namespace {

// Is the answer of a rule "yes"? Booleans and 0/1; anything else is a fault of the spec.
bool truth_of(const Value& value, const Expression& rule) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth;
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number != nullptr && (*number == 0 || *number == 1)) return *number == 1;
  throw EvaluationError(rule.where(), fmt::format("'{}' gives {} where true or false is needed",
                                                  rule.text(), to_text(value)));
}

std::int64_t whole_of(const Value& value, const Expression& expression) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  const auto* real = std::get_if<double>(&value);
  if (real != nullptr && std::abs(*real) < 0x1p63 && std::trunc(*real) == *real) {
    return static_cast<std::int64_t>(*real);
  }
  throw EvaluationError(expression.where(),
                        fmt::format("'{}' gives {} where a whole number is needed",
                                    expression.text(), to_text(value)));
}

}  // namespace

RuleSet::RuleSet(const KernelSpec& spec, const Variant& variant, const Problem& problem,
                 const DeviceInfo& device)
    : variant_(variant), constants_(make_scope(spec, problem, device)) {
  checks_.resize(variant.tunables.size() + 1);
  for (std::size_t t = 0; t < variant.tunables.size(); ++t) {
    const Tunable& tunable = variant.tunables[t];
    when_.push_back(tunable.when ? bind(*tunable.when) : nullptr);
    when_rules_.push_back(
        tunable.when ? add_rule(tunable.when->text(), fmt::format("'when' of '{}'", tunable.name))
                     : 0);
    sources_.emplace(tunable.name, t);
    source_levels_.push_back(t + 1);
    uses_.emplace_back();
  }
  add_derived(variant);
  add_constraints(variant);
  for (const Step& step : variant.steps) {
    if (step.kind == StepKind::launch) add_launch_limits(step, device);
  }
}

// Resolves the names: constants for good, tunables and derived values through uses_.
const RuleSet::Bound* RuleSet::bind(const Expression& expression) {
  Bound& bound = bound_.emplace_back();
  bound.expression = expression;
  for (const std::string& name : expression.names()) {
    const auto source = sources_.find(name);
    if (source == sources_.end()) {
      bound.slots.push_back(constants_.find(name));
      continue;
    }
    uses_[source->second].emplace_back(&bound, bound.slots.size());
    bound.slots.push_back(nullptr);
    bound.level = std::max(bound.level, source_levels_[source->second]);
  }
  return &bound;
}

std::size_t RuleSet::add_rule(std::string rule, std::string because) {
  rules_.push_back({std::move(rule), std::move(because), 0, {}});
  return rules_.size() - 1;
}

// A check belongs to the last level that it needs.
void RuleSet::add_check(Check check) {
  std::size_t level = check.when != nullptr ? check.when->level : 0;
  for (const Bound* operand : check.operands) level = std::max(level, operand->level);
  checks_[level].push_back(std::move(check));
}

void RuleSet::add_derived(const Variant& variant) {
  for (const Derived& derived : variant.derived) {
    const Bound* bound = bind(derived.value);
    Check check;
    check.rule = add_rule(derived.value.text(), fmt::format("derived '{}'", derived.name));
    check.derived = derived_.size();
    check.operands = {bound};
    derived_.push_back(bound);
    derived_values_.emplace_back();
    sources_.emplace(derived.name, uses_.size());
    source_levels_.push_back(bound->level);
    uses_.emplace_back();
    add_check(std::move(check));
  }
}

void RuleSet::add_constraints(const Variant& variant) {
  for (const Constraint& constraint : variant.constraints) {
    Check check;
    check.rule = add_rule(constraint.require.text(), constraint.because);
    check.operands = {bind(constraint.require)};
    add_check(std::move(check));
  }
}

void RuleSet::add_launch_limits(const Step& step, const DeviceInfo& device) {
  add_extents(step, step.block, "block", {1, device.max_block, device.max_threads_per_block});
  add_extents(step, step.grid, "grid", {1, device.max_grid, 0});
  if (step.shared_bytes) {
    add_extents(step, {*step.shared_bytes}, "shared_bytes",
                {0, {device.max_shared_bytes_optin, 0, 0}, 0});
  }
}

void RuleSet::add_extents(const Step& step, const std::vector<Expression>& extents,
                          std::string_view what, const Limits& limits) {
  Check check;
  check.rule = add_rule(fmt::format("{} of step '{}'", what, step.entry),
                        "the launch must stay within the device's limits");
  check.limits = limits;
  if (step.when) check.when = bind(*step.when);
  for (const Expression& extent : extents) check.operands.push_back(bind(extent));
  add_check(std::move(check));
}

void RuleSet::set_value(std::size_t source, const Value* value) {
  for (const auto& [bound, slot] : uses_[source]) bound->slots[slot] = value;
}

std::optional<bool> RuleSet::exists(std::size_t t) {
  const Bound* when = when_[t];
  if (when == nullptr) return true;
  try {
    const std::optional<Value> value = when->evaluate();
    return value && truth_of(*value, when->expression);
  } catch (const EvaluationError& error) {
    broken_ = when_rules_[t];
    if (rules_[broken_].first_fault.empty()) rules_[broken_].first_fault = error.what();
    return std::nullopt;
  }
}

void RuleSet::assign(std::size_t t, ValueIndex value) {
  set_value(t, value == kAbsent ? nullptr : &variant_.tunables[t].values[value]);
}

bool RuleSet::hold(std::size_t assigned) {
  for (const Check& check : checks_[assigned]) {
    broken_ = check.rule;
    try {
      if (!passes(check)) return false;
    } catch (const EvaluationError& error) {
      if (rules_[broken_].first_fault.empty()) rules_[broken_].first_fault = error.what();
      return false;
    }
  }
  return true;
}

// What depends on a tunable that does not exist here has no value: as a derived value it does not
// exist either, as a rule it does not apply.
bool RuleSet::passes(const Check& check) {
  if (check.derived) {
    std::optional<Value> value = check.operands.front()->evaluate();
    Value& held = derived_values_[*check.derived];
    const bool exists = value.has_value();
    if (exists) held = *std::move(value);
    set_value(variant_.tunables.size() + *check.derived, exists ? &held : nullptr);
    return true;
  }
  if (check.when != nullptr) {
    const std::optional<Value> applies = check.when->evaluate();
    if (!applies || !truth_of(*applies, check.when->expression)) return true;
  }
  if (!check.limits) {
    const std::optional<Value> answer = check.operands.front()->evaluate();
    return !answer || truth_of(*answer, check.operands.front()->expression);
  }
  std::int64_t product = 1;
  for (std::size_t d = 0; d < check.operands.size(); ++d) {
    const std::optional<Value> value = check.operands[d]->evaluate();
    if (!value) return true;
    const std::int64_t extent = whole_of(*value, check.operands[d]->expression);
    if (extent < check.limits->low || extent > check.limits->high[d]) return false;
    if (check.limits->product == 0) continue;
    product *= extent;  // bounded by the limits of the dimensions
    if (product > check.limits->product) return false;
  }
  return true;
}

}  // namespace kiln
