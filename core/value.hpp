// A value of the expression language: what a tunable, a problem field or a device limit holds.
//
// Element types are strings here ("f32"); `sizeof(dtype)` in an expression knows their names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace kiln {

using Value = std::variant<bool, std::int64_t, double, std::string>;

/// 2^63: the integers of a Value are below it, and not below its negative.
inline constexpr double kInt64Limit = 9223372036854775808.0;

/// Canonical text: true/false, decimal integers, shortest round-trip floats (with '.' or exponent),
/// strings bare. Two equal values have equal text; used in canonical config and problem texts.
[[nodiscard]] std::string to_text(const Value& value);

/// Reads `text` as the narrowest of bool, int, float, string. "1e8" is an integer when it is whole
/// (problem sizes are written so); "f32" is a string.
[[nodiscard]] Value parse_value(std::string_view text);

/// Are they the same value, however it is written? Numbers compare as numbers (64.0 is 64, true is
/// 1), and a text that is a number or a truth value ("64", "True") counts as it.
[[nodiscard]] bool is_same_value(const Value& a, const Value& b);

/// "integer", "float", "boolean" or "string", for messages.
[[nodiscard]] std::string_view type_name(const Value& value);

/// Numeric value of a bool, int or float. Throws std::logic_error on a string.
[[nodiscard]] double as_double(const Value& value);

}  // namespace kiln
