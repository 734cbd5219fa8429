// Values as text and back. The two directions agree: parse_value(to_text(v)) is v again for every
// value except strings that look like something else.
// SPDX-License-Identifier: Apache-2.0
#include "core/value.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace kiln {
namespace {

/// 2^63: every whole double below it (and not below its negative) is an int64.
bool is_whole_int64(double number) {
  return number >= -kInt64Limit && number < kInt64Limit && std::trunc(number) == number;
}

/// Whole numbers are written in full with ".0", so that they read back as floats: an exponent would
/// make them integers (see parse_value).
std::string float_text(double number) {
  std::array<char, 64> buffer;
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  if (is_whole_int64(number)) {
    const auto whole = std::to_chars(begin, end, static_cast<std::int64_t>(number));
    return std::string(begin, whole.ptr) + ".0";
  }
  return std::string(begin, std::to_chars(begin, end, number).ptr);
}

template <typename Number>
std::optional<Number> parse_whole_text(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

/// Keeps words that from_chars takes for numbers ("inf", "nan") out: a number starts with a digit.
bool starts_like_number(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  if (!text.empty() && text.front() == '.') text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

/// The number or truth value that a text is, in the spelling of Kiln or of Python.
Value unquoted(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return value;
  if (*text == "True") return true;
  if (*text == "False") return false;
  return parse_value(*text);
}

}  // namespace

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return float_text(number); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{}, value);
}

Value parse_value(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (!starts_like_number(text)) return std::string(text);
  if (const auto integer = parse_whole_text<std::int64_t>(text)) return *integer;
  const auto number = parse_whole_text<double>(text);
  if (!number) return std::string(text);
  const bool has_exponent = text.find_first_of("eE") != std::string_view::npos;
  if (has_exponent && is_whole_int64(*number)) return static_cast<std::int64_t>(*number);
  return *number;
}

bool is_same_value(const Value& a, const Value& b) {
  if (a == b) return true;
  const Value first = unquoted(a);
  const Value second = unquoted(b);
  const bool has_text =
      std::holds_alternative<std::string>(first) || std::holds_alternative<std::string>(second);
  if (has_text || first.index() == second.index()) return first == second;
  const auto whole = [](const Value& value) -> std::optional<std::int64_t> {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    const double number = as_double(value);
    if (!is_whole_int64(number)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  };
  const auto left = whole(first);
  return left && left == whole(second);
}

std::string_view type_name(const Value& value) {
  static constexpr std::array<std::string_view, 4> kNames = {"boolean", "integer", "float",
                                                             "string"};
  return kNames.at(value.index());
}

double as_double(const Value& value) {
  struct Reader {
    double operator()(bool truth) const { return truth ? 1.0 : 0.0; }
    double operator()(std::int64_t number) const { return static_cast<double>(number); }
    double operator()(double number) const { return number; }
    double operator()(const std::string& text) const {
      throw std::logic_error("'" + text + "' is a string where a number is needed");
    }
  };
  return std::visit(Reader{}, value);
}

}  // namespace kiln
