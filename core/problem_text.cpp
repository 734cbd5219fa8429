// SPDX-License-Identifier: Apache-2.0
#include "core/problem_text.hpp"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "core/suggest.hpp"

namespace kiln {
namespace {

bool is_separator(char c) { return c == ',' || c == ' ' || c == '\t' || c == '\n'; }

std::optional<std::int64_t> whole(double number) {
  if (!(std::abs(number) < 0x1p63) || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (exponent < 0 || exponent > 62) return std::nullopt;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

std::string field_bounds(const ProblemField& field) {
  if (field.minimum && field.maximum) {
    return fmt::format(" from {} to {}", to_text(*field.minimum), to_text(*field.maximum));
  }
  if (field.minimum) return fmt::format(" of at least {}", to_text(*field.minimum));
  if (field.maximum) return fmt::format(" of at most {}", to_text(*field.maximum));
  return "";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> split_problem_text(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_separator(text[at])) ++at;
    if (at == text.size()) return out;
    const std::size_t begin = at;
    while (at < text.size() && text[at] != '=' && !is_separator(text[at])) ++at;
    const std::string name(text.substr(begin, at - begin));
    if (at == text.size() || text[at] != '=' || name.empty()) {
      throw InputError(
          fmt::format("'{}' in the problem is not of the form name=value, without spaces", name));
    }
    ++at;
    std::string value;
    if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
      const std::size_t end = text.find(text[at], at + 1);
      if (end == std::string_view::npos) {
        throw InputError(fmt::format("the quote after '{}=' in the problem is never closed", name));
      }
      value = text.substr(at + 1, end - at - 1);
      at = end + 1;
    } else {
      const std::size_t first = at;
      while (at < text.size() && !is_separator(text[at])) ++at;
      value = text.substr(first, at - first);
    }
    if (value.empty()) {
      throw InputError(fmt::format(
          "problem field '{}' has no value: expected {}=VALUE, without spaces", name, name));
    }
    out.emplace_back(name, value);
  }
}

std::optional<std::int64_t> read_size(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kSuffixes[] = {
      {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}};
  for (const auto& [suffix, factor] : kSuffixes) {
    if (text.size() <= suffix.size() || text.substr(text.size() - suffix.size()) != suffix)
      continue;
    const Value number = parse_value(text.substr(0, text.size() - suffix.size()));
    if (std::holds_alternative<std::string>(number)) return std::nullopt;
    return whole(as_double(number) * factor);
  }
  if (const std::size_t caret = text.find('^'); caret != std::string_view::npos) {
    const Value base = parse_value(text.substr(0, caret));
    const Value exponent = parse_value(text.substr(caret + 1));
    const auto* b = std::get_if<std::int64_t>(&base);
    const auto* e = std::get_if<std::int64_t>(&exponent);
    return b && e ? power(*b, *e) : std::nullopt;
  }
  const Value number = parse_value(text);
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return *integer;
  const auto* real = std::get_if<double>(&number);  // 4096.0
  return real != nullptr ? whole(*real) : std::nullopt;
}

std::optional<Value> read_field_value(const ProblemField& field, const std::string& text) {
  switch (field.type) {
    case FieldType::integer: {
      const std::optional<std::int64_t> size = read_size(text);
      return size ? std::optional<Value>(*size) : std::nullopt;
    }
    case FieldType::floating:
    case FieldType::boolean:
      return to_field_type(field, parse_value(text));
    case FieldType::text:
    case FieldType::dtype:
    case FieldType::formula:
      return Value(text);
  }
  return std::nullopt;
}

std::optional<Value> to_field_type(const ProblemField& field, const Value& value) {
  switch (field.type) {
    case FieldType::integer:
      if (const auto* number = std::get_if<double>(&value)) {
        const std::optional<std::int64_t> integer = whole(*number);
        return integer ? std::optional<Value>(*integer) : std::nullopt;
      }
      return std::holds_alternative<std::int64_t>(value) ? std::optional(value) : std::nullopt;
    case FieldType::floating:
      if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*integer);
      }
      if (const auto* number = std::get_if<double>(&value); number && std::isfinite(*number)) {
        return value;
      }
      return std::nullopt;
    case FieldType::boolean:
      for (const bool truth : {false, true}) {  // 0, 1, True and False, too
        if (is_same_value(value, Value(truth))) return Value(truth);
      }
      return std::nullopt;
    case FieldType::text:
    case FieldType::dtype:
    case FieldType::formula:
      return std::holds_alternative<std::string>(value) ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

std::string expectation(const ProblemField& field) {
  if (!field.values.empty()) {
    std::vector<std::string> names;
    for (const Value& value : field.values) names.push_back(to_text(value));
    return "one of " + comma_list(names);
  }
  switch (field.type) {
    case FieldType::integer:
      return "an integer" + field_bounds(field);
    case FieldType::floating:
      return "a number" + field_bounds(field);
    case FieldType::boolean:
      return "true or false";
    case FieldType::formula:
      return field.variables.empty() ? "a formula"
                                     : "a formula over " + comma_list(field.variables);
    case FieldType::text:
    case FieldType::dtype:
      break;
  }
  return "a name";
}

std::string quoted_if_needed(const std::string& text) {
  if (text.find_first_of(", \t\n'\"") == std::string::npos) return text;
  const char quote = text.find('\'') == std::string::npos ? '\'' : '"';
  return quote + text + quote;
}

}  // namespace kiln
