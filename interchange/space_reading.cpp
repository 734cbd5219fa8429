// SPDX-License-Identifier: Apache-2.0
#include "interchange/space_reading.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/suggest.hpp"
#include "interchange/json_reading.hpp"

namespace kiln::interchange {
namespace {

constexpr std::size_t kMaxSpaceValues = 65'534;  // that a space can number
constexpr std::size_t kMaxConstraints = 1000;

/// A boolean or whole float as the integer that it equals.
Value plain_number(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return std::int64_t{*truth ? 1 : 0};
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || std::fabs(*real) >= 0x1p63 || std::trunc(*real) != *real) return value;
  return static_cast<std::int64_t>(*real);
}

ForeignNames names_of(const Variant& variant) {
  ForeignNames names;
  for (const Tunable& tunable : variant.tunables) {
    names.all.push_back(tunable.name);
    const bool text =
        std::any_of(tunable.values.begin(), tunable.values.end(),
                    [](const Value& value) { return std::holds_alternative<std::string>(value); });
    if (text) names.texts.push_back(tunable.name);
  }
  return names;
}

}  // namespace

// Not dump(): of what is nested without end it would run out of stack.
std::string describe(const OrderedJson& json) {
  return json.is_primitive() ? json.dump() : fmt::format("an {}", json.type_name());
}

SourceLocation PlaceFinder::next(std::string_view text) {
  const std::string quoted = '"' + std::string(text) + '"';
  const std::size_t found = file_.find(quoted, position_);
  if (found == std::string_view::npos) return file();
  for (std::size_t i = position_; i < found; ++i) {
    if (file_[i] != '\n') continue;
    ++line_;
    line_start_ = i + 1;
  }
  position_ = found + 1;
  return {path_, line_, static_cast<int>(position_ - line_start_) + 1};
}

void add_tunable(Variant& variant, Tunable tunable) {
  for (const Tunable& known : variant.tunables) {
    if (known.name != tunable.name) continue;
    throw InputError(tunable.where,
                     fmt::format("the parameter {} is here a second time{}", tunable.name,
                                 known.where.line > 0
                                     ? fmt::format("; the first is in line {}", known.where.line)
                                     : ""));
  }
  variant.tunables.push_back(std::move(tunable));
}

Tunable make_tunable(std::string name, std::vector<Value> values, const SourceLocation& where) {
  if (values.empty() || values.size() > kMaxSpaceValues) {
    throw InputError(where, fmt::format("{} has {} values; expected 1 to {}", name, values.size(),
                                        kMaxSpaceValues));
  }
  // In Python 1, 1.0 and True are one value; a text is not.
  std::set<Value> seen;
  for (const Value& value : values) {
    const Value number = std::holds_alternative<std::string>(value) ? value : plain_number(value);
    if (seen.insert(number).second) continue;
    throw InputError(where, fmt::format("{} has the value {} twice", name, to_text(value)));
  }
  Tunable tunable;
  tunable.name = std::move(name);
  tunable.fallback = values.front();
  tunable.values = std::move(values);
  tunable.where = where;
  return tunable;
}

void add_constraint(Variant& variant, const std::string& text, const SourceLocation& where) {
  if (variant.constraints.size() == kMaxConstraints) {
    throw InputError(where, fmt::format("more than {} constraints", kMaxConstraints));
  }
  Constraint constraint{Expression::parse_foreign(text, names_of(variant), where), ""};
  for (const std::string& name : constraint.require.names()) {
    const bool known = std::any_of(variant.tunables.begin(), variant.tunables.end(),
                                   [&](const Tunable& tunable) { return tunable.name == name; });
    if (known) continue;
    std::vector<std::string> names;
    for (const Tunable& tunable : variant.tunables) names.push_back(tunable.name);
    throw InputError(where, fmt::format("'{}' in '{}' is no tunable of this space{} (it has: {})",
                                        name, text, did_you_mean(name, names), comma_list(names)));
  }
  variant.constraints.push_back(std::move(constraint));
}

std::vector<Value> values_of(const OrderedJson& list, const std::string& tunable,
                             const SourceLocation& where) {
  std::vector<Value> values;
  for (const OrderedJson& item : list) {
    const std::optional<Value> value = scalar_value(item);
    if (!value) {
      throw InputError(where, fmt::format("expected the values of {} to be numbers, texts or "
                                          "booleans, not {}",
                                          tunable, describe(item)));
    }
    values.push_back(*value);
  }
  return values;
}

}  // namespace kiln::interchange
