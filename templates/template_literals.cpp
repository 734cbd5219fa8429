// Formats floating-point numbers, integers and extremes as C literals of an element type.
// SPDX-License-Identifier: Apache-2.0
#include "templates/template_literals.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "templates/template_functions.hpp"

namespace kiln {
namespace {

std::string float_literal(double value, DType type) {
  bool single = type == DType::f32;
  if (std::isnan(value)) throw TemplateFault("there is no literal for NaN");
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + (single ? "F32_INFINITY" : "F64_INFINITY");
  char digits[64];
  char* end = single ? std::to_chars(digits, digits + sizeof digits, static_cast<float>(value)).ptr
                     : std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string result(digits, end);
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return single ? result + "f" : result;
}

std::string integer_literal(std::int64_t value, DType type) {
  bool is_unsigned = type == DType::u32 || type == DType::u64;
  std::int64_t low = type == DType::i64
                         ? std::numeric_limits<std::int64_t>::min()
                         : (is_unsigned ? 0 : std::numeric_limits<std::int32_t>::min());
  std::int64_t high = type == DType::u32   ? std::numeric_limits<std::uint32_t>::max()
                      : type == DType::i32 ? std::numeric_limits<std::int32_t>::max()
                                           : std::numeric_limits<std::int64_t>::max();
  if (value < low || value > high) {
    throw TemplateFault(std::to_string(value) + " does not fit into " + std::string(name_of(type)));
  }
  // The smallest number has no literal of its own in C: its digits without the sign do not fit.
  std::string digits = value == low && !is_unsigned
                           ? "(" + std::to_string(value + 1) + " - 1)"
                           : std::to_string(value) + (is_unsigned ? "u" : "");
  if (type == DType::i64) return "(i64)" + digits;
  return type == DType::u64 ? "(u64)" + digits : digits;
}

// "inf" and "-inf" stand for the largest and smallest number of any type: where a max or min
// starts.
std::string extreme_literal(bool smallest, DType type) {
  if (is_floating(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return float_literal(smallest ? -infinity : infinity, type);
  }
  bool wide = type == DType::i64;
  if (type == DType::u32) return smallest ? "0u" : "4294967295u";
  if (type == DType::u64) return smallest ? "(u64)0u" : "(u64)18446744073709551615u";
  std::int64_t low =
      wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
  return integer_literal(smallest ? low : -(low + 1), type);
}

}  // namespace

std::string c_literal(const Value& value, DType type) {
  if (const auto* word = std::get_if<std::string>(&value)) {
    if (*word == "inf" || *word == "-inf") return extreme_literal(*word == "-inf", type);
    throw TemplateFault("literal needs a number, \"inf\" or \"-inf\", got the text '" + *word +
                        "'");
  }
  if (is_floating(type)) return float_literal(as_double(value), type);
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::floor(*number) != *number || std::fabs(*number) > 9e18) {
      throw TemplateFault(to_text(value) + " is no whole number, and the literal is of type " +
                          std::string(name_of(type)));
    }
    return integer_literal(static_cast<std::int64_t>(*number), type);
  }
  const auto* boolean = std::get_if<bool>(&value);
  return integer_literal(boolean != nullptr ? *boolean : std::get<std::int64_t>(value), type);
}

}  // namespace kiln
