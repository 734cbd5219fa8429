// Configs: canonical text, defaults, the scope that expressions see, and the check of every rule.
// SPDX-License-Identifier: Apache-2.0
#include "core/config.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/config_reader.hpp"
#include "core/constraint_text.hpp"
#include "core/launch_plan.hpp"
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
  if (!tunable.when) return true;
  return evaluate_known(*tunable.when, scope).has_value() && holds(*tunable.when, scope);
}

// What the text of a config says: its variant and the values given, in the order written.
struct ConfigText {
  std::string variant;
  std::vector<std::pair<std::string, std::string>> values;
};

ConfigText split_config_text(std::string_view text) {
  ConfigText out;
  const std::size_t colon = std::min(text.find(':'), text.size());
  out.variant = text.substr(0, colon);
  for (std::size_t begin = colon + 1; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw InputError(
          fmt::format("'{}' in the config '{}' is not of the form tunable=value", item, text));
    }
    out.values.emplace_back(item.substr(0, equals), item.substr(equals + 1));
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

Status check_config_rules(const KernelSpec& spec, const Config& config, const Problem& problem,
                          const DeviceInfo& device) {
  const Variant* variant = spec.find_variant(config.variant);
  if (variant == nullptr) {
    return broken(fmt::format("{} has no variant '{}'", spec.name, config.variant));
  }
  Scope scope = make_scope(spec, problem, device);
  if (auto failure = check_requirement(*variant, scope)) return *failure;
  if (auto failure = check_values(*variant, config, scope)) return *failure;
  add_derived(*variant, scope);
  for (const Constraint& constraint : variant->constraints) {
    if (holds(constraint.require, scope)) continue;
    return broken(
        fmt::format("{} ({})", constraint.because, explain_false(constraint.require, scope)));
  }
  return Done{};
}

}  // namespace

std::string Config::text() const {
  std::string out = variant;
  char separator = ':';
  for (const auto& [name, value] : values) {
    out += separator + name + '=' + to_text(value);
    separator = ',';
  }
  return out;
}

const Value* Config::find(std::string_view tunable) const {
  for (const auto& [name, value] : values) {
    if (name == tunable) return &value;
  }
  return nullptr;
}

std::string difference_text(const Config& config, const Config& other) {
  if (config.variant != other.variant) return config.text();
  std::vector<std::string> parts;
  for (const auto& [name, value] : config.values) {
    const Value* old = other.find(name);
    if (old != nullptr && *old == value) continue;
    parts.push_back(name + "=" + to_text(value) +
                    (old == nullptr ? "" : " instead of " + to_text(*old)));
  }
  for (const auto& [name, value] : other.values) {
    if (config.find(name) == nullptr) parts.push_back("without " + name);
  }
  return comma_list(parts);
}

Config parse_config(const KernelSpec& spec, std::string_view text, const Problem& problem,
                    const DeviceInfo& device) {
  if (means_default(text)) return default_config(spec, problem, device);
  const ConfigText given = split_config_text(text);
  const Variant& variant = variant_of(spec, given);
  Scope scope = make_scope(spec, problem, device);
  return fill_config(variant, given, scope);
}

ConfigReader::ConfigReader(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device)
    : spec_(spec), problem_(problem), device_(device), scope_(make_scope(spec, problem, device)) {}

Config ConfigReader::operator()(std::string_view text) {
  if (means_default(text)) return default_config(spec_, problem_, device_);
  const ConfigText given = split_config_text(text);
  const Variant& variant = variant_of(spec_, given);
  // Those of the last text, also of one that was given up half way.
  if (last_ != nullptr) {
    for (const Tunable& tunable : last_->tunables) scope_.erase(tunable.name);
  }
  last_ = &variant;
  return fill_config(variant, given, scope_);
}

Config default_config(const Variant& variant, const KernelSpec& spec, const Problem& problem,
                      const DeviceInfo& device) {
  Scope scope = make_scope(spec, problem, device);
  return fill_config(variant, {}, scope);
}

Config default_config(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device) {
  std::string reasons;
  std::optional<Config> too_large;  // its rules hold, but it breaks a launch limit
  for (const Variant& variant : spec.variants) {
    Config config = default_config(variant, spec, problem, device);
    const Status status = check_config(spec, config, problem, device);
    if (status) {
      if (make_launch_plan(spec, config, problem, device)) return config;
      if (!too_large) too_large = std::move(config);
      continue;
    }
    reasons += fmt::format("\n  {}: {}", variant.name, status.failure().message);
  }
  if (too_large) return *std::move(too_large);  // other configs of its variant may be launched
  throw DeviceError(fmt::format("no variant of {} is possible for {} on {} ({}):{}", spec.name,
                                problem.text(), device.name, selector_of(device), reasons));
}

Scope make_scope(const KernelSpec& spec, const Problem& problem, const DeviceInfo& device) {
  Scope scope;
  add_to_scope(device, scope);
  problem.add_to_scope(spec, scope);
  return scope;
}

Scope make_scope(const KernelSpec& spec, const Variant& variant, const Config& config,
                 const Problem& problem, const DeviceInfo& device) {
  Scope scope = make_scope(spec, problem, device);
  for (const auto& [name, value] : config.values) scope.set(name, value);
  add_derived(variant, scope);
  return scope;
}

Status check_config(const KernelSpec& spec, const Config& config, const Problem& problem,
                    const DeviceInfo& device) {
  try {
    return check_config_rules(spec, config, problem, device);
  } catch (const EvaluationError& error) {  // a rule without an answer for these values
    return broken(error.what());
  }
}

}  // namespace kiln
