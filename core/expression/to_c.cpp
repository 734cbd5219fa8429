// Formulas as C source: what a kernel template pastes into its inner loop.
//
// Every number is a `real` there, as in the evaluator, so i / n is a true division. Booleans stay C
// conditions and become numbers only where one is needed. Every operation stands in brackets.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/expression/code.hpp"

namespace kiln::expression {
namespace {

/// Some operations repeat an operand, so text can grow much faster than the formula.
constexpr std::size_t kMaxSource = 65536;  // characters

/// x ** 3 is written x * x * x up to this exponent, while the product stays this short.
constexpr int kMaxUnrolledPower = 8;
constexpr std::size_t kMaxUnrolledText = 256;  // characters

enum class Kind { number, condition };

class Writer {
 public:
  Writer(const Tree& tree, const Source& source, bool is_float)
      : tree_(tree), source_(source), is_float_(is_float) {}

  std::string number(int index) {
    const Node& node = node_at(index);
    if (kind_of(index) == Kind::condition) {
      return bounded(node, "(" + condition(index) + " ? " + literal(1) + " : " + literal(0) + ")");
    }
    return bounded(node, numeric(node));
  }

 private:
  [[nodiscard]] const Node& node_at(int index) const {
    return tree_.nodes[static_cast<std::size_t>(index)];
  }

  std::string bounded(const Node& node, std::string text) const {
    if (text.size() > kMaxSource) source_.fail(node.offset, "the formula is too long as C source");
    return text;
  }

  [[nodiscard]] Kind kind_of(int index) const {
    const Node& node = node_at(index);
    switch (node.operation) {
      case Operation::constant:
        return std::holds_alternative<bool>(node.value) ? Kind::condition : Kind::number;
      case Operation::less:
      case Operation::less_equal:
      case Operation::greater:
      case Operation::greater_equal:
      case Operation::equal:
      case Operation::not_equal:
      case Operation::chain:
      case Operation::member:
      case Operation::logical_not:
      case Operation::all_of:
      case Operation::any_of:
        return Kind::condition;
      case Operation::choose: {  // each branch once: twice would be 2^depth calls
        const Kind kind = kind_of(node.children[1]);
        return kind == kind_of(node.children[2]) ? kind : Kind::number;
      }
      default:
        return Kind::number;
    }
  }

  [[nodiscard]] std::string literal(double value) const {
    std::array<char, 64> buffer;
    char* const begin = buffer.data();
    char* const end = begin + buffer.size();
    const auto narrow = static_cast<float>(value);
    const bool as_float = is_float_ && std::isfinite(narrow);
    std::string text(begin, as_float ? std::to_chars(begin, end, narrow).ptr
                                     : std::to_chars(begin, end, value).ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return is_float_ ? text + "f" : text;
  }

  std::string numeric(const Node& node) {
    const auto operand = [&](std::size_t i) { return number(node.children[i]); };
    switch (node.operation) {
      case Operation::constant:
        return literal(as_double(node.value));
      case Operation::name:
        return "(" + tree_.names[static_cast<std::size_t>(node.name)] + ")";
      case Operation::negate:
        return "(-" + operand(0) + ")";
      case Operation::add:
      case Operation::subtract:
      case Operation::multiply:
      case Operation::divide:
        return "(" + operand(0) + " " + std::string(spelling(node.operation)) + " " + operand(1) +
               ")";
      case Operation::floor_divide:
        return "floor(" + operand(0) + " / " + operand(1) + ")";
      case Operation::modulo:
        return modulo(operand(0), operand(1));
      case Operation::power:
        return power(node);
      case Operation::choose:
        return "(" + condition(node.children[0]) + " ? " + operand(1) + " : " + operand(2) + ")";
      case Operation::ceil_divide:
        return "ceil(" + operand(0) + " / " + operand(1) + ")";
      case Operation::round_up: {
        const std::string multiple = operand(1);
        return "(ceil(" + operand(0) + " / " + multiple + ") * " + multiple + ")";
      }
      default:
        return call(node);
    }
  }

  /// The remainder with the sign of the divisor.
  static std::string modulo(const std::string& a, const std::string& b) {
    return "(" + a + " - " + b + " * floor(" + a + " / " + b + "))";
  }

  /// Functions of two arguments take more of them in turn: fmin(fmin(a, b), c).
  std::string call(const Node& node) {
    const std::string name = c_name(node.operation);
    std::string text = name + "(" + without_brackets(number(node.children[0]));
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      if (i > 1) text.insert(0, name + "(");
      text.append(i > 1 ? "), " : ", ").append(without_brackets(number(node.children[i])));
    }
    return text + ")";
  }

  /// sin(2 * x) reads better than sin((2 * x)). Only a pair that holds the whole text goes.
  static std::string without_brackets(std::string text) {
    if (text.front() != '(') return text;
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (open == 0 && i + 1 < text.size()) return text;
    }
    return text.substr(1, text.size() - 2);
  }

  static std::string c_name(Operation operation) {
    switch (operation) {
      case Operation::power:
        return "pow";
      case Operation::minimum:
        return "fmin";
      case Operation::maximum:
        return "fmax";
      case Operation::absolute:
        return "fabs";
      default:
        return std::string(spelling(operation));
    }
  }

  /// The exponent where it is a small whole literal, also a negated one.
  [[nodiscard]] std::optional<int> small_exponent(int index) const {
    const Node& node = node_at(index);
    if (node.operation == Operation::negate) {
      const auto inner = small_exponent(node.children[0]);
      return inner ? std::optional(-*inner) : std::nullopt;
    }
    if (node.operation != Operation::constant || kind_of(index) != Kind::number)
      return std::nullopt;
    const double value = as_double(node.value);
    if (std::fabs(value) > kMaxUnrolledPower || std::trunc(value) != value) return std::nullopt;
    return static_cast<int>(value);
  }

  /// Products where short: exact, fast and defined for negative bases in every dialect.
  std::string power(const Node& node) {
    const std::string base = number(node.children[0]);
    const auto exponent = small_exponent(node.children[1]);
    const std::size_t factors = exponent ? static_cast<std::size_t>(std::abs(*exponent)) : 0;
    if (!exponent || base.size() * factors > kMaxUnrolledText) {
      return call(node);
    }
    if (factors == 0) return literal(1);
    std::string product = base;
    for (std::size_t i = 1; i < factors; ++i) product += " * " + base;
    if (factors > 1) product = "(" + product + ")";
    return *exponent > 0 ? product : "(" + literal(1) + " / " + product + ")";
  }

  std::string condition(int index) {
    const Node& node = node_at(index);
    if (kind_of(index) == Kind::number) {
      return bounded(node, "(" + numeric(node) + " != " + literal(0) + ")");
    }
    return bounded(node, boolean(node));
  }

  std::string boolean(const Node& node) {
    switch (node.operation) {
      case Operation::constant:
        return std::get<bool>(node.value) ? "(1 == 1)" : "(1 == 0)";
      case Operation::logical_not:
        return "(!" + condition(node.children[0]) + ")";
      case Operation::all_of:
        return joined(node, " && ");
      case Operation::any_of:
        return joined(node, " || ");
      case Operation::chain:
        return chain(node);
      case Operation::member:
        return member(node);
      case Operation::choose:
        return "(" + condition(node.children[0]) + " ? " + condition(node.children[1]) + " : " +
               condition(node.children[2]) + ")";
      default:
        return comparison(node.operation, node.children[0], node.children[1]);
    }
  }

  std::string comparison(Operation operation, int left, int right) {
    return "(" + number(left) + " " + std::string(spelling(operation)) + " " + number(right) + ")";
  }

  std::string joined(const Node& node, const std::string& separator) {
    std::string text;
    for (const int child : node.children)
      text += (text.empty() ? "" : separator) + condition(child);
    return "(" + text + ")";
  }

  std::string chain(const Node& node) {
    std::string text;
    for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
      text += (text.empty() ? "" : " && ") +
              comparison(node.comparisons[i], node.children[i], node.children[i + 1]);
    }
    return "(" + text + ")";
  }

  std::string member(const Node& node) {
    std::string text;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      text += (text.empty() ? "" : " || ") +
              comparison(Operation::equal, node.children[0], node.children[i]);
    }
    return "(" + text + ")";
  }

  const Tree& tree_;
  const Source& source_;
  bool is_float_;
};

}  // namespace

std::string write_c(const Tree& tree, const Source& source, std::string_view real) {
  return Writer(tree, source, real == "float").number(tree.root);
}

}  // namespace kiln::expression
