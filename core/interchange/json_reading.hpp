// What the readers of recorded trials share: JSON with good messages. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/value.hpp"

namespace kiln::interchange {

/// Throws InputError "path:line:column: expected JSON" for the place where a parser stopped (`byte`
/// counts from 1).
[[noreturn]] void throw_not_json(std::string_view text, const std::string& path, std::size_t byte);

/// The whole text as JSON, members in their order. Throws as above, and InputError "path: ..." for
/// a number that no double holds.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text, const std::string& path);

/// A boolean, number or text; nullopt for anything else.
template <typename AnyJson>
std::optional<Value> scalar_value(const AnyJson& json) {
  if (json.is_boolean()) return Value(json.template get<bool>());
  if (json.is_number_integer()) return Value(json.template get<std::int64_t>());
  if (json.is_number_float()) return Value(json.template get<double>());
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

/// The text at `key`; empty where there is none.
template <typename AnyJson>
std::string text_member(const AnyJson& object, const char* key) {
  const AnyJson* member = find_member(object, key);
  return member != nullptr && member->is_string() ? member->template get<std::string>() : "";
}

}  // namespace kiln::interchange
