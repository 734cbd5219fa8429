// Problems: defaults, checks, canonical text and distance. Reading text is problem_text.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/problem.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "core/constraint_text.hpp"
#include "core/problem_distance.hpp"
#include "core/problem_text.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

const Value* find_field(const Fields& fields, std::string_view name) {
  for (const auto& [field, value] : fields) {
    if (field == name) return &value;
  }
  return nullptr;
}

[[noreturn]] void reject(const KernelSpec& spec, const ProblemField& field, const Value& value) {
  std::vector<std::string> values;
  for (const Value& each : field.values) values.push_back(to_text(each));
  const std::string text = to_text(value);
  std::string hint = did_you_mean(text, values);
  if (text.find('=') != std::string::npos) {
    hint = "; expected a comma or a space between two fields";
  } else if (field.type == FieldType::integer && std::holds_alternative<std::string>(value)) {
    hint = "; integers are below 2^63 and read as 4096, 2^12, 4e3 or 4Ki";
  }
  throw InputError(fmt::format("problem field '{}' of {} must be {}, not '{}'{}", field.name,
                               spec.name, expectation(field), text, hint));
}

bool in_bounds(const ProblemField& field, const Value& value) {
  if (field.minimum && as_double(value) < as_double(*field.minimum)) return false;
  return !field.maximum || as_double(value) <= as_double(*field.maximum);
}

// The value as the field's type, within its values and bounds.
Value checked_field(const KernelSpec& spec, const ProblemField& field, const Value& given) {
  const std::optional<Value> typed = to_field_type(field, given);
  if (!typed) reject(spec, field, given);
  if (!field.values.empty() &&
      std::find(field.values.begin(), field.values.end(), *typed) == field.values.end()) {
    reject(spec, field, given);
  }
  if (!std::holds_alternative<std::string>(*typed) && !in_bounds(field, *typed)) {
    reject(spec, field, given);
  }
  if (field.type == FieldType::formula) {
    try {
      (void)Expression::parse_formula(std::get<std::string>(*typed), field.variables);
    } catch (const InputError& error) {
      throw InputError(fmt::format("problem field '{}' of {}: in the formula '{}', {}", field.name,
                                   spec.name, to_text(*typed), error.what()));
    }
  }
  return *typed;
}

void check_given_names(const KernelSpec& spec, const Fields& given) {
  std::vector<std::string> names;
  for (const ProblemField& field : spec.problem) names.push_back(field.name);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].first;
    if (!spec.find_field(name)) {
      throw InputError(fmt::format("{} has no problem field '{}'{} (it has: {})", spec.name, name,
                                   did_you_mean(name, names), comma_list(names)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (given[j].first == name) {
        throw InputError(fmt::format("problem field '{}' is given twice", name));
      }
    }
  }
}

// One error for all missing fields, so that a user does not meet them one at a time.
void check_nothing_missing(const KernelSpec& spec, const Fields& given) {
  std::vector<const ProblemField*> missing;
  for (const ProblemField& field : spec.problem) {
    if (!field.fallback && find_field(given, field.name) == nullptr) missing.push_back(&field);
  }
  if (missing.empty()) return;
  if (missing.size() == 1) {
    throw InputError(fmt::format("problem field '{}' of {} is missing: {}", missing[0]->name,
                                 spec.name, expectation(*missing[0])));
  }
  std::vector<std::string> texts;
  for (const ProblemField* field : missing) {
    texts.push_back(fmt::format("'{}' ({})", field->name, expectation(*field)));
  }
  throw InputError(
      fmt::format("problem fields of {} are missing: {}", spec.name, comma_list(texts)));
}

void check_problem_rules(const KernelSpec& spec, const Problem& problem) {
  Scope scope;
  problem.add_to_scope(spec, scope);
  for (const Constraint& rule : spec.problem_rules) {
    if (holds(rule.require, scope)) continue;
    throw InputError(fmt::format("this problem of {} is refused: {} ({})", spec.name, rule.because,
                                 explain_false(rule.require, scope)));
  }
}

// log2(a/b), made usable for zero and negative values by a signed log2(1 + |x|).
double log_ratio(double a, double b) {
  if (a == b) return 0;
  if (a > 0 && b > 0) return std::log2(a / b);
  const auto signed_log = [](double x) { return std::copysign(std::log2(1 + std::abs(x)), x); };
  return signed_log(a) - signed_log(b);
}

bool is_number(const ProblemField& field) {
  return field.type == FieldType::integer || field.type == FieldType::floating;
}

/// A number of a problem, and its share in distances.
struct Size {
  double value = 0;
  double weight = 1;
};

// As many, and in the same order, for each problem of a spec.
std::vector<Size> sizes_of(const KernelSpec& spec, const Problem& problem) {
  std::vector<Size> sizes;
  if (spec.distance.empty()) {
    for (const ProblemField& field : spec.problem) {
      if (field.weight == 0 || !is_number(field)) continue;
      sizes.push_back({as_double(problem.at(field.name)), field.weight});
    }
    return sizes;
  }
  Scope scope;
  problem.add_to_scope(spec, scope);
  for (const DistanceTerm& term : spec.distance) {
    sizes.push_back({term.of.evaluate_number(scope), term.weight});
  }
  return sizes;
}

// A term that is no number says so when a problem is named, not by answers from nowhere.
void check_sizes(const KernelSpec& spec, const Problem& problem) {
  if (!spec.distance.empty()) static_cast<void>(sizes_of(spec, problem));
}

}  // namespace

Problem Problem::parse(const KernelSpec& spec, std::string_view text) {
  Fields given;
  for (const auto& [name, value] : split_problem_text(text)) {
    const ProblemField* field = spec.find_field(name);
    std::optional<Value> typed;
    if (field != nullptr) {
      typed = read_field_value(*field, value);
      if (!typed) reject(spec, *field, value);
    }
    given.emplace_back(name, typed ? *typed : Value(value));
  }
  return make(spec, given);
}

Problem Problem::make(const KernelSpec& spec,
                      const std::vector<std::pair<std::string, Value>>& given) {
  check_given_names(spec, given);
  check_nothing_missing(spec, given);
  Problem problem;
  Scope scope;
  for (const ProblemField& field : spec.problem) {
    const Value* value = find_field(given, field.name);
    const Value filled =
        checked_field(spec, field, value != nullptr ? *value : field.fallback->evaluate(scope));
    problem.fields_.emplace_back(field.name, filled);
    scope.set(field.name, filled);
  }
  check_problem_rules(spec, problem);
  check_sizes(spec, problem);
  return problem;
}

const Value& Problem::at(std::string_view name) const {
  const Value* value = find_field(fields_, name);
  if (value == nullptr) {
    throw std::out_of_range("the problem has no field '" + std::string(name) + "'");
  }
  return *value;
}

std::int64_t Problem::integer(std::string_view name) const {
  return std::get<std::int64_t>(at(name));
}

std::string Problem::text_of(std::string_view name) const { return to_text(at(name)); }

std::string Problem::text() const {
  std::string text;
  for (const auto& [name, value] : fields_) {
    if (!text.empty()) text += ' ';
    text += name + '=' + quoted_if_needed(to_text(value));
  }
  return text;
}

std::string Problem::short_text(const KernelSpec& spec) const {
  std::string text;
  Scope scope;
  for (const auto& [name, value] : fields_) {
    const ProblemField* field = spec.find_field(name);
    const bool has_default = field != nullptr && field->fallback;
    const bool is_default =
        has_default && to_field_type(*field, field->fallback->evaluate(scope)) == value;
    scope.set(name, value);
    if (is_default) continue;
    if (!text.empty()) text += ' ';
    text += name + '=' + quoted_if_needed(to_text(value));
  }
  return text;
}

void Problem::add_to_scope(const KernelSpec& spec, Scope& scope) const {
  for (const auto& [name, value] : fields_) scope.set(name, value);
  for (const auto& [name, value] : spec.config_values) scope.set(name, value);
  for (const Derived& derived : spec.derived) {
    scope.set(derived.name, derived.value.evaluate(scope));
  }
}

double size_distance(const KernelSpec& spec, const Problem& a, const Problem& b) {
  const std::vector<Size> of_a = sizes_of(spec, a);
  const std::vector<Size> of_b = sizes_of(spec, b);
  double sum = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const double step = of_a[i].weight * log_ratio(of_a[i].value, of_b[i].value);
    sum += step * step;
  }
  return std::sqrt(sum);
}

}  // namespace kiln
