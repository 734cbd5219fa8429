// JSON of every struct that has visit_fields(): an object with one key a field.
//
// Found by the struct's type, so visit_fields() of a struct must be declared where these are used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/fields.hpp"
#include "core/json.hpp"
#include "core/json_text.hpp"
#include "core/outcome.hpp"
#include "core/timing.hpp"

namespace kiln {

template <typename T>
[[nodiscard]] Json field_json(const T& value) {
  if constexpr (HasFields<const T>) {
    Json json = Json::object();
    visit_fields(value,
                 [&](const char* name, const auto& field) { json[name] = field_json(field); });
    return json;
  } else if constexpr (std::same_as<T, Config>) {
    return to_json(value);
  } else if constexpr (std::same_as<T, Outcome> || std::same_as<T, Timing>) {
    return name_of(value);
  } else if constexpr (std::same_as<T, std::string>) {
    return valid_utf8(value);
  } else if constexpr (std::same_as<T, double>) {
    return number_to_json(value);
  } else if constexpr (std::same_as<T, std::vector<double>>) {
    Json json = Json::array();
    for (const double each : value) json.push_back(number_to_json(each));
    return json;
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
  } else if constexpr (std::same_as<T, Config>) {
    value = config_from_json(json);
  } else if constexpr (std::same_as<T, Outcome>) {
    const auto& name = json.get_ref<const std::string&>();
    const auto outcome = parse_outcome(name);
    if (!outcome) throw InputError("malformed JSON: '" + name + "' is no outcome");
    value = *outcome;
  } else if constexpr (std::same_as<T, Timing>) {
    const auto& name = json.get_ref<const std::string&>();
    const auto timing = parse_timing(name);
    if (!timing) throw InputError("malformed JSON: '" + name + "' is no timing");
    value = *timing;
  } else if constexpr (std::same_as<T, double>) {
    value = number_from_json(json);
  } else if constexpr (std::same_as<T, std::vector<double>>) {
    value.clear();
    for (const Json& each : json) value.push_back(number_from_json(each));
  } else {
    json.get_to(value);
  }
}

}  // namespace kiln
