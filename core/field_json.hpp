// JSON of every struct that has visit_fields(): an object with one key a field.
//
// Found by the struct's type, so visit_fields() of a struct must be declared where these are used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/fields.hpp"
#include "core/json.hpp"
#include "core/json_text.hpp"
#include "core/outcome.hpp"
#include "core/timing.hpp"

namespace kiln {

namespace detail {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

/// The enumerator that a JSON text names; throws InputError for another text.
template <typename Parse>
auto named(const Json& json, const char* what, const Parse& parse) {
  const auto& name = json.get_ref<const std::string&>();
  const auto value = parse(name);
  if (!value) throw InputError("malformed JSON: '" + name + "' is no " + what);
  return *value;
}

}  // namespace detail

/// Enumerators without names become numbers, for processes of one program.
template <typename T>
[[nodiscard]] Json field_json(const T& value) {
  if constexpr (HasFields<const T>) {
    Json json = Json::object();
    visit_fields(value,
                 [&](const char* name, const auto& field) { json[name] = field_json(field); });
    return json;
  } else if constexpr (detail::kIsOptional<T>) {
    return value ? field_json(*value) : Json(nullptr);
  } else if constexpr (detail::kIsVector<T>) {
    Json json = Json::array();
    for (const auto& each : value) json.push_back(field_json(each));
    return json;
  } else if constexpr (std::same_as<T, Config> || std::same_as<T, Value>) {
    return to_json(value);
  } else if constexpr (std::same_as<T, std::pair<std::string, Value>>) {
    return Json::array({value.first, to_json(value.second)});
  } else if constexpr (std::same_as<T, Outcome> || std::same_as<T, Timing>) {
    return name_of(value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::same_as<T, std::string>) {
    return valid_utf8(value);
  } else if constexpr (std::same_as<T, double>) {
    return number_to_json(value);
  } else {
    return value;
  }
}

/// Inverse of field_json(). Throws Json::exception for a key that is missing or of another type,
/// and InputError for a name or number that there is not.
template <typename T>
void read_field(const Json& json, T& value) {
  if constexpr (HasFields<T>) {
    visit_fields(value, [&](const char* name, auto& field) { read_field(json.at(name), field); });
  } else if constexpr (detail::kIsOptional<T>) {
    value.reset();
    if (!json.is_null()) read_field(json, value.emplace());
  } else if constexpr (detail::kIsVector<T>) {
    if (!json.is_array()) throw InputError("malformed JSON: " + json.dump() + " is no list");
    value.clear();
    for (const Json& each : json) read_field(each, value.emplace_back());
  } else if constexpr (std::same_as<T, Config>) {
    value = config_from_json(json);
  } else if constexpr (std::same_as<T, Value>) {
    value = value_from_json(json);
  } else if constexpr (std::same_as<T, std::pair<std::string, Value>>) {
    value = {json.at(0).get<std::string>(), value_from_json(json.at(1))};
  } else if constexpr (std::same_as<T, Outcome>) {
    value = detail::named(json, "outcome", parse_outcome);
  } else if constexpr (std::same_as<T, Timing>) {
    value = detail::named(json, "timing", parse_timing);
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(json.get<int>());
  } else if constexpr (std::same_as<T, double>) {
    value = number_from_json(json);
  } else {
    json.get_to(value);
  }
}

}  // namespace kiln
