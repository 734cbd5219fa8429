// Configs of a setting: their texts, defaults, the scope that expressions see, and the check of
// every rule. Launch plans: launch_plan.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/setting.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/constraint_text.hpp"
#include "core/suggest.hpp"

namespace kiln {
namespace {

Failure broken(std::string message) { return {Outcome::constraint, std::move(message)}; }

const Tunable* find_tunable(const Variant& variant, std::string_view name) {
  const auto found = std::find_if(variant.tunables.begin(), variant.tunables.end(),
                                  [&](const Tunable& tunable) { return tunable.name == name; });
  return found == variant.tunables.end() ? nullptr : &*found;
}

std::vector<std::string> value_texts(const Tunable& tunable) {
  std::vector<std::string> texts;
  for (const Value& value : tunable.values) texts.push_back(to_text(value));
  return texts;
}

// Does the tunable exist, given what `scope` holds of the earlier ones?
bool exists(const Tunable& tunable, const Scope& scope) {
  return !tunable.when || exists(*tunable.when, scope);
}

// What the text of a config says: its variant and the values given, in the order written.
struct ConfigText {
  std::string variant;
  std::vector<std::pair<std::string, std::string>> values;
};

/// The comma behind the item at `begin`, or the end; commas in quotes are part of a value.
std::size_t end_of_item(std::string_view text, std::size_t begin) {
  bool is_quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\\' && is_quoted) {
      ++i;
    } else if (text[i] == '\'') {
      is_quoted = !is_quoted;
    } else if (text[i] == ',' && !is_quoted) {
      return i;
    }
  }
  return text.size();
}

/// Undoes the quotes of value_in_config().
std::string without_quotes(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('\'') || !text.ends_with('\'')) return std::string(text);
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

ConfigText split_config_text(std::string_view text) {
  ConfigText out;
  const std::size_t colon = std::min(text.find(':'), text.size());
  out.variant = text.substr(0, colon);
  for (std::size_t begin = colon + 1; begin < text.size();) {
    const std::size_t end = end_of_item(text, begin);
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw InputError(
          fmt::format("'{}' in the config '{}' is not of the form tunable=value", item, text));
    }
    out.values.emplace_back(item.substr(0, equals), without_quotes(item.substr(equals + 1)));
    begin = end + 1;
  }
  return out;
}

void check_tunable_names(const Variant& variant, const ConfigText& given) {
  for (std::size_t i = 0; i < given.values.size(); ++i) {
    const std::string& name = given.values[i].first;
    if (!find_tunable(variant, name)) {
      std::vector<std::string> names;
      for (const Tunable& tunable : variant.tunables) names.push_back(tunable.name);
      throw InputError(fmt::format("variant '{}' has no tunable '{}'{} (it has: {})", variant.name,
                                   name, did_you_mean(name, names),
                                   names.empty() ? "none" : comma_list(names)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (given.values[j].first == name) {
        throw InputError(fmt::format("tunable '{}' is given twice", name));
      }
    }
  }
}

// The listed value that the text means, in any spelling: 64 and 64.0, true, True and 1.
Value parse_tunable_value(const Tunable& tunable, const std::string& text) {
  const Value parsed = parse_value(text);
  for (const Value& value : tunable.values) {
    if (parsed == value || to_text(value) == text) return value;
  }
  for (const Value& value : tunable.values) {
    if (is_same_value(parsed, value)) return value;
  }
  throw InputError(fmt::format("tunable '{}' must be one of {}, not '{}'", tunable.name,
                               comma_list(value_texts(tunable)), text));
}

// Leaves the tunables in `scope`.
Config fill_config(const Variant& variant, const ConfigText& given, Scope& scope) {
  Config config{variant.name, {}};
  for (const Tunable& tunable : variant.tunables) {
    const auto text = std::find_if(given.values.begin(), given.values.end(),
                                   [&](const auto& item) { return item.first == tunable.name; });
    const bool is_given = text != given.values.end();
    if (!exists(tunable, scope)) {
      if (!is_given) continue;
      throw InputError(fmt::format("tunable '{}' does not exist here: {}", tunable.name,
                                   explain_false(*tunable.when, scope)));
    }
    const Value value = is_given ? parse_tunable_value(tunable, text->second) : tunable.fallback;
    config.values.emplace_back(tunable.name, value);
    scope.set(tunable.name, value);
  }
  return config;
}

// The variant that a text names, which has all tunables that it gives.
const Variant& variant_of(const KernelSpec& spec, const ConfigText& given) {
  const Variant* variant = spec.find_variant(given.variant);
  if (variant == nullptr) {
    std::vector<std::string> names;
    for (const Variant& known : spec.variants) names.push_back(known.name);
    throw InputError(fmt::format("{} has no variant '{}'{} (it has: {})", spec.name, given.variant,
                                 did_you_mean(given.variant, names), comma_list(names)));
  }
  check_tunable_names(*variant, given);
  return *variant;
}

// "" and "default" mean the spec's default config.
bool means_default(std::string_view text) { return text.empty() || text == "default"; }

// Adds variant-derived values; one that needs a tunable that does not exist here does not exist
// either.
void add_derived(const Variant& variant, Scope& scope) {
  for (const Derived& derived : variant.derived) {
    if (std::optional<Value> value = evaluate_known(derived.value, scope)) {
      scope.set(derived.name, *std::move(value));
    }
  }
}

std::optional<Failure> check_requirement(const Variant& variant, const Scope& scope) {
  if (!variant.requires_ || holds(*variant.requires_, scope)) return std::nullopt;
  return broken(fmt::format("variant '{}' is not possible here ({})", variant.name,
                            explain_false(*variant.requires_, scope)));
}

// Are exactly the tunables that exist here set, in order, to values they may have? Fills `scope`.
std::optional<Failure> check_values(const Variant& variant, const Config& config, Scope& scope) {
  auto next = config.values.begin();
  for (const Tunable& tunable : variant.tunables) {
    const bool set = next != config.values.end() && next->first == tunable.name;
    if (!exists(tunable, scope)) {
      if (!set) continue;
      return broken(fmt::format("tunable '{}' does not exist here ({})", tunable.name,
                                explain_false(*tunable.when, scope)));
    }
    if (!set) {
      return broken(fmt::format("tunable '{}' of variant '{}' has no value or stands out of order",
                                tunable.name, variant.name));
    }
    if (std::find(tunable.values.begin(), tunable.values.end(), next->second) ==
        tunable.values.end()) {
      return broken(fmt::format("tunable '{}' cannot be {} (it may be {})", tunable.name,
                                to_text(next->second), comma_list(value_texts(tunable))));
    }
    scope.set(tunable.name, next->second);
    ++next;
  }
  if (next == config.values.end()) return std::nullopt;
  return broken(fmt::format("variant '{}' has no tunable '{}'", variant.name, next->first));
}

}  // namespace

Setting::Setting(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device)
    : spec_(&spec) {
  auto place = std::make_shared<Place>(Place{problem, device, {}, std::nullopt});
  add_to_scope(device, place->scope);
  try {
    problem.add_to_scope(spec, place->scope);
  } catch (const EvaluationError& error) {
    place->fault = error;
  }
  place_ = std::move(place);
}

const Scope& Setting::scope() const {
  if (place_->fault) throw EvaluationError(*place_->fault);
  return place_->scope;
}

Scope Setting::scope(const Config& config) const {
  Scope scope = this->scope();
  for (const auto& [name, value] : config.values) scope.set(name, value);
  add_derived(*spec_->find_variant(config.variant), scope);
  return scope;
}

Config Setting::parse(std::string_view text) const {
  if (means_default(text)) return default_config();
  const ConfigText given = split_config_text(text);
  const Variant& variant = variant_of(*spec_, given);
  Scope scope = this->scope();
  return fill_config(variant, given, scope);
}

Config Setting::default_config(const Variant& variant) const {
  Scope scope = this->scope();
  return fill_config(variant, {}, scope);
}

Result<Config> Setting::launchable_default() const {
  std::string reasons;
  for (const Variant& variant : spec_->variants) {
    try {
      Config config = default_config(variant);
      const Result<LaunchPlan> plan = this->plan(config);
      if (plan) return config;
      reasons += fmt::format("\n  {}: {}", variant.name, plan.failure().message);
    } catch (const Error& error) {
      reasons += fmt::format("\n  {}: {}", variant.name, error.what());
    }
  }
  return broken(fmt::format("no variant of {} is possible for {} on {} ({}):{}", spec_->name,
                            problem().text(), device().name, selector_of(device()), reasons));
}

Config Setting::default_config() const {
  Result<Config> launchable = launchable_default();
  if (launchable) return std::move(*launchable);
  for (const Variant& variant : spec_->variants) {
    Config config = default_config(variant);
    if (check(config)) return config;  // other configs of its variant may be launched
  }
  throw DeviceError(launchable.failure().message);
}

Result<Config> Setting::launchable(std::string_view text) const {
  try {
    Config config = parse(text);
    if (const Result<LaunchPlan> plan = this->plan(config); !plan) return plan.failure();
    return config;
  } catch (const Error& error) {
    return broken(error.what());
  }
}

std::optional<Failure> Setting::broken_rule(const Config& config, Scope& scope) const {
  const Variant* variant = spec_->find_variant(config.variant);
  if (variant == nullptr) {
    return broken(fmt::format("{} has no variant '{}'", spec_->name, config.variant));
  }
  scope = this->scope();
  if (auto failure = check_requirement(*variant, scope)) return failure;
  if (auto failure = check_values(*variant, config, scope)) return failure;
  add_derived(*variant, scope);
  for (const Constraint& constraint : variant->constraints) {
    if (holds(constraint.require, scope)) continue;
    return broken(
        fmt::format("{} ({})", constraint.because, explain_false(constraint.require, scope)));
  }
  return std::nullopt;
}

Status Setting::check(const Config& config) const {
  try {
    Scope scope;
    if (auto failure = broken_rule(config, scope)) return *failure;
    return Done{};
  } catch (const EvaluationError& error) {  // a rule without an answer for these values
    return broken(error.what());
  }
}

}  // namespace kiln
