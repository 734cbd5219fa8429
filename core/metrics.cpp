// Finds an objective by its name, evaluates metrics of a trial, and turns values into scores.
// SPDX-License-Identifier: Apache-2.0
#include "core/metrics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/constraint_text.hpp"
#include "core/setting.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

// Scores must be positive: a value of 0 (no spilled bytes) counts as this.
constexpr double kLeastValue = 1e-30;

constexpr const char* kEnergyName = "measured.energy_j";

bool uses(const Expression& expression, std::string_view name) {
  const std::vector<std::string>& names = expression.names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Metric* find_metric(const KernelSpec& spec, std::string_view name) {
  const auto found = std::find_if(spec.metrics.begin(), spec.metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == spec.metrics.end() ? nullptr : &*found;
}

std::optional<double> number(const Value& value) {
  if (std::holds_alternative<std::string>(value)) return std::nullopt;
  const double real = as_double(value);
  return std::isfinite(real) && real >= 0 ? std::optional(real) : std::nullopt;
}

/// nullopt: the scope is not known, or the metric divides by zero there.
std::optional<double> value_in(const std::optional<Scope>& scope, const Metric& metric) {
  if (!scope) return std::nullopt;
  try {
    const std::optional<Value> value = evaluate_known(metric.value, *scope);
    return value ? number(*value) : std::nullopt;
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
}

}  // namespace

const std::vector<std::string>& measured_names() {
  static const std::vector<std::string> kNames = {"measured.time_ns",     kEnergyName,
                                                  "measured.max_error",   "measured.registers",
                                                  "measured.spill_bytes", "measured.shared_bytes",
                                                  "cost.bytes",           "cost.flops"};
  return kNames;
}

double Objective::score(double value) const {
  const double positive = std::max(value, kLeastValue);
  return goal == Goal::minimise ? positive : 1 / positive;
}

double Objective::value(double score) const {
  const double value = goal == Goal::minimise ? score : 1 / score;
  return value <= kLeastValue ? 0 : value;
}

Objective find_objective(const KernelSpec& spec, std::string_view name) {
  if (name == kTimeObjective) return {};
  if (name == kEnergyObjective) {
    return {std::string(kEnergyObjective), Goal::minimise, "J", true};
  }
  if (const Metric* metric = find_metric(spec, name)) {
    return {metric->name, metric->goal, metric->unit, uses(metric->value, kEnergyName)};
  }
  std::vector<std::string> known = {std::string(kTimeObjective), std::string(kEnergyObjective)};
  for (const Metric& metric : spec.metrics) known.push_back(metric.name);
  throw InputError(fmt::format("{} has no objective '{}'{} (it has: {})", spec.name, name,
                               did_you_mean(name, known), comma_list(known)));
}

Metrics::Metrics(Setting setting) : setting_(std::move(setting)), cost_(setting_.cost()) {}

std::optional<Scope> Metrics::scope_of(const Trial& trial) const {
  const bool is_known = setting_.spec().find_variant(trial.config.variant) != nullptr;
  Scope scope;
  try {
    if (!is_known) return setting_.scope();  // of an older spec
    scope = setting_.scope(trial.config);
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
  const auto set_known = [&](const char* name, std::int64_t value) {
    if (value >= 0) scope.set(name, value);
  };
  scope.set("measured.time_ns", trial.time_ns);
  scope.set("measured.max_error", trial.max_error);
  set_known("measured.registers", trial.registers);
  set_known("measured.spill_bytes", trial.spill_bytes);
  set_known("measured.shared_bytes", trial.shared_bytes);
  scope.set("cost.bytes", cost_.bytes);
  scope.set("cost.flops", cost_.flops);
  const auto energy = trial.metrics.find(std::string(kEnergyObjective));
  if (energy != trial.metrics.end()) scope.set(kEnergyName, energy->second);
  return scope;
}

std::map<std::string, double> Metrics::of(const Trial& trial) const {
  std::map<std::string, double> values;
  if (!trial.ok()) return values;
  const auto energy = trial.metrics.find(std::string(kEnergyObjective));
  if (energy != trial.metrics.end()) values.insert(*energy);
  if (setting_.spec().metrics.empty()) return values;
  const std::optional<Scope> scope = scope_of(trial);
  for (const Metric& metric : setting_.spec().metrics) {
    if (const auto known = value_in(scope, metric)) values.emplace(metric.name, *known);
  }
  return values;
}

std::optional<double> Metrics::value(const Objective& objective, const Trial& trial) const {
  if (!trial.ok()) return std::nullopt;
  if (objective.is_time()) return trial.time_ns;
  if (objective.name == kEnergyObjective) {
    const auto energy = trial.metrics.find(objective.name);
    return energy == trial.metrics.end() ? std::nullopt : std::optional(energy->second);
  }
  const Metric* metric = find_metric(setting_.spec(), objective.name);
  return metric == nullptr ? std::nullopt : value_in(scope_of(trial), *metric);
}

}  // namespace kiln
