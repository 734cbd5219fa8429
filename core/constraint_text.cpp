// SPDX-License-Identifier: Apache-2.0
#include "core/constraint_text.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace kiln {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

// One operator or keyword of the outermost level of an expression.
struct Operator {
  std::string_view text;
  std::size_t begin;
};

// Comparison operators and the words and, or, not, in, if, else outside parentheses and strings.
std::vector<Operator> outer_operators(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kComparisons = {
      "<=", ">=", "==", "!=", "<", ">"};
  static constexpr std::array<std::string_view, 6> kWords = {"and", "or", "not",
                                                             "in",  "if", "else"};
  std::vector<Operator> found;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = std::min(text.find(c, i + 1), text.size() - 1);
    } else if (text.substr(i, 2) == "<<" || text.substr(i, 2) == ">>") {
      ++i;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (is_word_character(c)) {
      const std::size_t begin = i;
      while (i + 1 < text.size() && is_word_character(text[i + 1])) ++i;
      const std::string_view word = text.substr(begin, i + 1 - begin);
      for (const std::string_view keyword : kWords) {
        if (depth == 0 && word == keyword) found.push_back({word, begin});
      }
    } else if (depth == 0) {
      for (const std::string_view comparison : kComparisons) {
        if (text.substr(i, comparison.size()) != comparison) continue;
        found.push_back({text.substr(i, comparison.size()), i});
        i += comparison.size() - 1;
        break;
      }
    }
  }
  return found;
}

std::string with_names(const Expression& rule, const Scope& scope) {
  std::string names;
  for (const std::string& name : rule.names()) {
    const Value* value = scope.find(name);
    if (value == nullptr) continue;
    names += fmt::format("{}{} = {}", names.empty() ? " with " : ", ", name, to_text(*value));
  }
  return fmt::format("{} is false{}", rule.text(), names);
}

// "backend is opencl", for a rule that a name equals a text; "" for another rule.
std::string with_text(const Expression& rule, const Scope& scope) {
  const Value* value = rule.names().size() == 1 ? scope.find(rule.names().front()) : nullptr;
  if (value == nullptr || !std::holds_alternative<std::string>(*value)) return "";
  const std::string start = rule.names().front() + " == '";
  if (rule.text().compare(0, start.size(), start) != 0) return "";
  return fmt::format("{}: {} is {}", rule.text(), rule.names().front(), to_text(*value));
}

// "65536 <= 49152", or nullopt when an operand has no value.
std::optional<std::string> with_numbers(std::string_view text,
                                        const std::vector<Operator>& operators,
                                        const Scope& scope) {
  std::string numbers;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= operators.size(); ++i) {
    const std::size_t end = i < operators.size() ? operators[i].begin : text.size();
    const Expression operand = Expression::parse(trim(text.substr(begin, end - begin)));
    const std::optional<Value> value = evaluate_known(operand, scope);
    if (!value) return std::nullopt;
    numbers += to_text(*value);
    if (i == operators.size()) break;
    numbers += fmt::format(" {} ", operators[i].text);
    begin = end + operators[i].text.size();
  }
  return numbers;
}

std::string explain(const Expression& rule, const Scope& scope) {
  const std::string_view text = rule.text();
  const std::vector<Operator> operators = outer_operators(text);
  bool only_and = true;
  bool any_and = false;
  bool only_comparisons = !operators.empty();
  for (const Operator& op : operators) {
    const bool word = std::isalpha(static_cast<unsigned char>(op.text.front())) != 0;
    any_and |= op.text == "and";
    only_and &= !word || op.text == "and" || op.text == "in";
    only_comparisons &= !word;
  }
  if (any_and && only_and) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= operators.size(); ++i) {
      if (i < operators.size() && operators[i].text != "and") continue;
      const std::size_t end = i < operators.size() ? operators[i].begin : text.size();
      const Expression part = Expression::parse(trim(text.substr(begin, end - begin)));
      if (!holds(part, scope)) return explain(part, scope);
      begin = end + 3;
    }
  }
  if (only_comparisons) {
    std::string is = operators.size() == 1 ? with_text(rule, scope) : "";
    if (!is.empty()) return is;
    if (const auto numbers = with_numbers(text, operators, scope); numbers && *numbers != text) {
      return fmt::format("{}: {} is false", text, *numbers);
    }
  }
  return with_names(rule, scope);
}

std::vector<const Value*> slots_of(const Expression& expression, const Scope& scope) {
  std::vector<const Value*> slots;
  slots.reserve(expression.names().size());
  for (const std::string& name : expression.names()) slots.push_back(scope.find(name));
  return slots;
}

}  // namespace

std::optional<Value> evaluate_known(const Expression& expression, const Scope& scope) {
  return expression.evaluate(slots_of(expression, scope));
}

bool holds(const Expression& rule, const Scope& scope) {
  return rule.evaluate_truth(slots_of(rule, scope)).value_or(true);
}

bool exists(const Expression& when, const Scope& scope) {
  return when.evaluate_truth(slots_of(when, scope)).value_or(false);
}

std::string explain_false(const Expression& rule, const Scope& scope) {
  try {
    return explain(rule, scope);
  } catch (const InputError&) {  // the parts do not stand alone; the whole is still worth showing
    return with_names(rule, scope);
  }
}

}  // namespace kiln
