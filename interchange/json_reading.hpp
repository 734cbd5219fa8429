// What the readers of foreign files share: values of JSON. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/value.hpp"

namespace kiln::interchange {

/// A boolean, finite number or text; nullopt for anything else, and for what 64 bits do not hold.
template <typename AnyJson>
std::optional<Value> scalar_value(const AnyJson& json) {
  if (json.is_boolean()) return Value(json.template get<bool>());
  if (json.is_number_unsigned() && json.template get<std::uint64_t>() >
                                       std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::nullopt;
  }
  if (json.is_number_integer()) return Value(json.template get<std::int64_t>());
  if (json.is_number_float() && std::isfinite(json.template get<double>()))
    return Value(json.template get<double>());
  if (json.is_string()) return Value(json.template get<std::string>());
  return std::nullopt;
}

/// The member `key` of an object; nullptr where there is none or it is null.
template <typename AnyJson>
const AnyJson* find_member(const AnyJson& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// The number that a member is, also one in quotes; nullopt for anything else.
template <typename AnyJson>
std::optional<double> number_value(const AnyJson& json) {
  if (json.is_number()) return json.template get<double>();
  if (!json.is_string()) return std::nullopt;
  const Value value = parse_value(json.template get<std::string>());
  if (std::holds_alternative<std::string>(value) || std::holds_alternative<bool>(value)) {
    return std::nullopt;
  }
  return as_double(value);
}

/// A member in a message: short, and never nested without end.
template <typename AnyJson>
std::string shown(const AnyJson* json) {
  if (json == nullptr) return "nothing";
  if (!json->is_primitive()) return std::string("an ") + json->type_name();
  if (json->is_number_float() && !std::isfinite(json->template get<double>()))
    return std::isnan(json->template get<double>()) ? "NaN" : "an infinity";
  std::string text = json->dump(-1, ' ', false, AnyJson::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// The text at `key`; empty where there is none.
template <typename AnyJson>
std::string text_member(const AnyJson& object, const char* key) {
  const AnyJson* member = find_member(object, key);
  return member != nullptr && member->is_string() ? member->template get<std::string>() : "";
}

}  // namespace kiln::interchange
