// A variant in one line, for tests of spaces: tunables with values, and constraints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/constraint_text.hpp"

namespace kiln::test {

struct SmallTunable {
  std::string name;
  std::vector<std::int64_t> values;
  std::string when = {};
};

inline Variant small_variant(const std::vector<SmallTunable>& tunables,
                             const std::vector<std::string>& constraints,
                             const std::vector<std::pair<std::string, std::string>>& derived = {}) {
  Variant variant;
  variant.name = "small";
  for (const SmallTunable& given : tunables) {
    Tunable tunable;
    tunable.name = given.name;
    for (const std::int64_t value : given.values) tunable.values.emplace_back(value);
    tunable.fallback = tunable.values.front();
    if (!given.when.empty()) tunable.when = Expression::parse(given.when);
    variant.tunables.push_back(std::move(tunable));
  }
  for (const auto& [name, value] : derived) {
    variant.derived.push_back({name, Expression::parse(value)});
  }
  for (const std::string& text : constraints) {
    variant.constraints.push_back({Expression::parse(text), ""});
  }
  return variant;
}

/// 1, 2, ... count.
inline std::vector<std::int64_t> up_to(std::int64_t count) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= count; ++i) values.push_back(i);
  return values;
}

/// Is the config legal, by evaluating one expression after the other? A `when` or a constraint that
/// has no answer makes it illegal.
inline bool is_legal_config(const Variant& variant, const Config& config) {
  Scope scope;
  try {
    for (const Tunable& tunable : variant.tunables) {
      const Value* value = config.find(tunable.name);
      const bool exists = !tunable.when || (evaluate_known(*tunable.when, scope) == Value(true));
      if (exists != (value != nullptr)) return false;
      if (value != nullptr) scope.set(tunable.name, *value);
    }
    for (const Derived& derived : variant.derived) {
      if (auto value = evaluate_known(derived.value, scope)) scope.set(derived.name, *value);
    }
    for (const Constraint& constraint : variant.constraints) {
      if (!holds(constraint.require, scope)) return false;
    }
  } catch (const EvaluationError&) {
    return false;
  }
  return true;
}

/// The texts of all legal configs, by trying every combination, absent tunables too.
inline void list_legal(const Variant& variant, Config& config, std::size_t t,
                       std::vector<std::string>& out) {
  if (t == variant.tunables.size()) {
    if (is_legal_config(variant, config)) out.push_back(config.text());
    return;
  }
  if (variant.tunables[t].when) list_legal(variant, config, t + 1, out);
  for (const Value& value : variant.tunables[t].values) {
    config.values.emplace_back(variant.tunables[t].name, value);
    list_legal(variant, config, t + 1, out);
    config.values.pop_back();
  }
}

inline std::vector<std::string> legal_configs(const Variant& variant) {
  std::vector<std::string> out;
  Config config{variant.name, {}};
  list_legal(variant, config, 0, out);
  return out;
}

}  // namespace kiln::test
