// Recursive descent over tokens; precedence as in Python, from loose to tight:
//
//   conditional   a if c else b          (right)
//   any_of        or
//   all_of        and
//   negation      not
//   comparison    < <= > >= == !=  in, not in
//   bits          |, then ^, then &, then << >>   (left; in templates ^ is **)
//   sum           + -                    (left)
//   product       * / // %               (left)
//   sign          + - ~
//   power         **                     (right; binds tighter than a sign on its left)
//   primary       numbers, strings, names, calls, brackets, in templates lists
//
// Every function reads one construct starting at the current token and returns the index of its
// node.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "core/dtype.hpp"
#include "core/expression/functions.hpp"
#include "core/expression/lexer.hpp"
#include "core/expression/tree.hpp"
#include "core/suggest.hpp"

namespace kiln::expression {
namespace {

using Spelled = std::pair<std::string_view, Operation>;

constexpr Spelled kComparisons[] = {
    {"<", Operation::less},           {"<=", Operation::less_equal}, {">", Operation::greater},
    {">=", Operation::greater_equal}, {"==", Operation::equal},      {"!=", Operation::not_equal},
};
constexpr Spelled kBitOr[] = {{"|", Operation::bit_or}};
constexpr Spelled kBitXor[] = {{"^", Operation::bit_xor}};
constexpr Spelled kBitAnd[] = {{"&", Operation::bit_and}};
constexpr Spelled kShifts[] = {
    {"<<", Operation::shift_left},
    {">>", Operation::shift_right},
};
constexpr Spelled kSums[] = {
    {"+", Operation::add},
    {"-", Operation::subtract},
};
constexpr Spelled kProducts[] = {
    {"*", Operation::multiply},
    {"/", Operation::divide},
    {"//", Operation::floor_divide},
    {"%", Operation::modulo},
};

class Parser {
 public:
  Parser(const Source& source, const Dialect& dialect)
      : source_(source), dialect_(dialect), lexer_(source), token_(lexer_.next()) {}

  Tree parse() {
    tree_.root = condition(conditional());
    if (token_.kind != TokenKind::end) fail_expected("an operator or the end of the expression");
    return std::move(tree_);
  }

 private:
  /// Counts open constructs; lives as long as one is being read.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ <= kMaxNesting) return;
      parser_.source_.fail(parser_.token_.offset,
                           "nested more than " + std::to_string(kMaxNesting) + " levels deep");
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --parser_.nesting_; }

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail_expected(const std::string& expected) const {
    source_.fail(token_.offset, "expected " + expected + ", found " + describe(token_));
  }

  Token advance() { return std::exchange(token_, lexer_.next()); }

  [[nodiscard]] bool at(std::string_view symbol) const {
    return token_.kind == TokenKind::symbol && token_.text == symbol;
  }

  bool accept(std::string_view symbol) {
    if (!at(symbol)) return false;
    advance();
    return true;
  }

  void expect(std::string_view symbol, const std::string& context) {
    if (!accept(symbol)) fail_expected("'" + std::string(symbol) + "' " + context);
  }

  int add_node(Node node) {
    int height = 0;
    for (const int child : node.children) {
      height = std::max(height, tree_.nodes[static_cast<std::size_t>(child)].height);
    }
    node.height = height + 1;
    if (node.height > kMaxHeight) {
      source_.fail(node.offset, "more than " + std::to_string(kMaxHeight) + " operators in a row");
    }
    tree_.nodes.push_back(std::move(node));
    return static_cast<int>(tree_.nodes.size()) - 1;
  }

  int add_node(Operation operation, std::size_t offset, std::vector<int> children) {
    Node node;
    node.operation = operation;
    node.offset = static_cast<std::uint32_t>(offset);
    node.children = std::move(children);
    return add_node(std::move(node));
  }

  int add_constant(Value value, std::size_t offset) {
    Node node;
    node.offset = static_cast<std::uint32_t>(offset);
    node.value = std::move(value);
    return add_node(std::move(node));
  }

  [[nodiscard]] std::optional<Operation> at_one_of(std::span<const Spelled> operators) const {
    for (const auto& [symbol, operation] : operators) {
      if (at(symbol)) return operation;
    }
    return std::nullopt;
  }

  int conditional() {
    const Nesting nesting(*this);
    const int value = any_of();
    const std::size_t offset = token_.offset;
    if (!accept("if")) return value;
    const int chosen_if = condition(any_of());
    expect("else", "after the condition of 'if'");
    const int otherwise = conditional();
    return add_node(Operation::choose, offset, {chosen_if, value, otherwise});
  }

  int any_of() { return joined("or", Operation::any_of, &Parser::all_of); }
  int all_of() { return joined("and", Operation::all_of, &Parser::negation); }

  /// a or b or c: one node for the whole row.
  int joined(std::string_view symbol, Operation operation, int (Parser::*operand)()) {
    const int first = (this->*operand)();
    if (!at(symbol)) return first;
    const std::size_t offset = token_.offset;
    std::vector<int> children = {condition(first)};
    while (accept(symbol)) children.push_back(condition((this->*operand)()));
    return add_node(operation, offset, std::move(children));
  }

  int negation() {
    const std::size_t offset = token_.offset;
    if (!accept("not")) return comparison();
    const Nesting nesting(*this);
    return add_node(Operation::logical_not, offset, {condition(negation())});
  }

  /// The node as a condition. Texts have no truth value here; those of Python have: x != '', and
  /// x != 0 because other values of the same parameter may be numbers.
  int condition(int index) {
    const Node& node = tree_.nodes[static_cast<std::size_t>(index)];
    if (!may_be_text(node)) return index;
    const std::size_t offset = node.offset;
    // Of a choice, each branch: with the whole choice in both comparisons, code for it is made
    // twice a level.
    if (node.operation == Operation::choose) {
      const std::vector<int> parts = node.children;
      return add_node(Operation::choose, offset,
                      {parts[0], condition(parts[1]), condition(parts[2])});
    }
    const int empty = add_constant(std::string(), offset);
    const int zero = add_constant(std::int64_t{0}, offset);
    const int is_some = add_node(Operation::not_equal, offset, {index, empty});
    const int is_not_zero = add_node(Operation::not_equal, offset, {index, zero});
    return add_node(Operation::all_of, offset, {is_some, is_not_zero});
  }

  [[nodiscard]] bool may_be_text(const Node& node) const {
    if (dialect_.parameters.empty()) return false;
    if (node.operation == Operation::constant) {
      return std::holds_alternative<std::string>(node.value);
    }
    if (node.operation == Operation::name) {
      const std::string& name = tree_.names[static_cast<std::size_t>(node.name)];
      return std::find(dialect_.texts.begin(), dialect_.texts.end(), name) != dialect_.texts.end();
    }
    return node.operation == Operation::choose && !dialect_.texts.empty();
  }

  int comparison() {
    const int first = bit_or();
    const std::size_t offset = token_.offset;
    if (accept("not")) {
      expect("in", "after 'not'");
      return add_node(Operation::logical_not, offset, {membership(first, offset)});
    }
    if (accept("in")) return membership(first, offset);

    Node chain;
    chain.operation = Operation::chain;
    chain.offset = static_cast<std::uint32_t>(offset);
    chain.children.push_back(first);
    while (const auto operation = at_one_of(kComparisons)) {
      advance();
      chain.comparisons.push_back(*operation);
      chain.children.push_back(bit_or());
    }
    if (chain.comparisons.empty()) return first;
    if (chain.comparisons.size() == 1) chain.operation = chain.comparisons.front();
    return add_node(std::move(chain));
  }

  /// The list to the right of `in`; round brackets do as well, as in Python.
  int membership(int value, std::size_t offset) {
    if (dialect_.is_template && !at("[") && !at("("))
      return add_node(Operation::contained, offset, {value, bit_or()});
    const std::string_view closing = accept("(") ? ")" : "]";
    if (closing == "]") expect("[", "and a list of values after 'in'");
    return add_node(Operation::member, offset, elements({value}, closing));
  }

  /// What a list holds, up to its closing bracket, behind `children`.
  std::vector<int> elements(std::vector<int> children, std::string_view closing) {
    const bool may_be_empty = dialect_.is_template;
    while (!(may_be_empty && at(closing))) {
      children.push_back(conditional());
      if (!accept(",") || at(closing)) break;
    }
    expect(closing, "after the values of the list");
    return children;
  }

  int bit_or() { return left_to_right(kBitOr, &Parser::bit_xor); }
  int bit_xor() {
    return dialect_.is_template ? bit_and() : left_to_right(kBitXor, &Parser::bit_and);
  }
  int bit_and() { return left_to_right(kBitAnd, &Parser::shift); }
  int shift() { return left_to_right(kShifts, &Parser::sum); }
  int sum() { return left_to_right(kSums, &Parser::product); }
  int product() { return left_to_right(kProducts, &Parser::sign); }

  int left_to_right(std::span<const Spelled> operators, int (Parser::*operand)()) {
    int left = (this->*operand)();
    while (const auto operation = at_one_of(operators)) {
      refuse_bits_in_formula(*operation);
      refuse_fraction_in_template(*operation);
      const std::size_t offset = advance().offset;
      const int right = (this->*operand)();
      left = add_node(*operation, offset, {left, right});
    }
    return left;
  }

  void refuse_bits_in_formula(Operation operation) const {
    const bool of_bits = operation >= Operation::bit_and && operation <= Operation::shift_right;
    if (dialect_.formula && (of_bits || operation == Operation::bit_not)) {
      source_.fail(token_.offset, "a formula is over real numbers, which have no bits");
    }
  }

  void refuse_fraction_in_template(Operation operation) const {
    if (dialect_.is_template && operation == Operation::divide)
      source_.fail(token_.offset, "'/' would give a fraction: write a // b for whole numbers");
  }

  int sign() {
    const std::size_t offset = token_.offset;
    if (accept("+")) {
      const Nesting nesting(*this);
      return sign();
    }
    if (at("~")) {
      refuse_bits_in_formula(Operation::bit_not);
      advance();
      const Nesting nesting(*this);
      return add_node(Operation::bit_not, offset, {sign()});
    }
    if (!accept("-")) return power();
    const Nesting nesting(*this);
    return add_node(Operation::negate, offset, {sign()});
  }

  int power() {
    const int base = primary();
    const std::size_t offset = token_.offset;
    if (!accept("**") && !(dialect_.is_template && accept("^"))) return base;
    const Nesting nesting(*this);
    return add_node(Operation::power, offset, {base, sign()});
  }

  int primary() {
    switch (token_.kind) {
      case TokenKind::number:
        return number();
      case TokenKind::string:
        return string();
      case TokenKind::name: {
        const Token name = advance();
        return accept("(") ? call(name) : named(name);
      }
      default:
        break;
    }
    if (at("[")) return list();
    if (!accept("(")) fail_expected("a value");
    const int inner = conditional();
    expect(")", "to close the bracket");
    return inner;
  }

  int list() {
    if (!dialect_.is_template)
      source_.fail(token_.offset, "a list may only stand to the right of 'in'");
    const std::size_t offset = advance().offset;
    return add_node(Operation::list, offset, elements({}, "]"));
  }

  int string() {
    const Token token = advance();
    if (dialect_.formula) source_.fail(token.offset, "a formula has no strings");
    return add_constant(std::string(token.text), token.offset);
  }

  int number() {
    const Token token = advance();
    std::string digits(token.text);
    std::erase(digits, '_');
    const bool based = digits.size() > 1 && digits[0] == '0' && std::isalpha(digits[1]) != 0 &&
                       digits[1] != 'e' && digits[1] != 'E';
    if (based) return whole_number(token, digits.substr(2), base_of(digits[1]));
    // The same text means the same number here and on the command line: 1e8 is an integer.
    Value value = parse_value(digits);
    const bool written_whole = digits.find_first_of(".eE") == std::string::npos;
    if (written_whole && !dialect_.formula) return whole_number(token, digits, 10);
    if (std::holds_alternative<std::string>(value) || !std::isfinite(as_double(value))) {
      source_.fail(token.offset, describe(token) + " is out of range");
    }
    if (dialect_.formula || dialect_.is_template) value = as_double(value);
    return add_constant(std::move(value), token.offset);
  }

  static int base_of(char letter) {
    if (letter == 'x' || letter == 'X') return 16;
    return letter == 'o' || letter == 'O' ? 8 : 2;
  }

  /// Digits that 64 bits do not hold become a sum of parts that they hold.
  int whole_number(const Token& token, std::string_view digits, int base) {
    constexpr std::size_t kPart = 15;  // digits; 16^15 is below 2^63
    std::int64_t scale = 1;
    for (std::size_t i = 0; i < kPart; ++i) scale *= base;
    const std::size_t first = digits.size() % kPart == 0 ? kPart : digits.size() % kPart;
    int number = add_constant(part_of(token, digits.substr(0, first), base), token.offset);
    for (std::size_t begin = first; begin < digits.size(); begin += kPart) {
      const int factor = add_constant(scale, token.offset);
      const int high = add_node(Operation::multiply, token.offset, {number, factor});
      const int low = add_constant(part_of(token, digits.substr(begin, kPart), base), token.offset);
      number = add_node(Operation::add, token.offset, {high, low});
    }
    return number;
  }

  Value part_of(const Token& token, std::string_view digits, int base) const {
    std::int64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, number, base);
    if (result.ec != std::errc() || result.ptr != end) {
      source_.fail(token.offset, describe(token) + " is not a number");
    }
    if (dialect_.formula) return static_cast<double>(number);
    return number;
  }

  int named(const Token& name) {
    const auto& own = dialect_.parameters;
    if (std::find(own.begin(), own.end(), name.text) != own.end()) return named_value(name);
    if (name.text == "true" || name.text == "True") return add_constant(true, name.offset);
    if (name.text == "false" || name.text == "False") return add_constant(false, name.offset);
    if (dialect_.formula) {
      const auto& variables = dialect_.variables;
      const bool declared =
          std::find(variables.begin(), variables.end(), name.text) != variables.end();
      if (!declared && name.text == "pi") return add_constant(std::numbers::pi, name.offset);
      if (!declared) fail_undeclared(name);
    } else if (parse_dtype(name.text)) {
      return add_constant(std::string(name.text), name.offset);
    }
    return named_value(name);
  }

  int named_value(const Token& name, Operation operation = Operation::name) {
    Node node;
    node.operation = operation;
    node.offset = static_cast<std::uint32_t>(name.offset);
    node.name = name_index(name);
    return add_node(std::move(node));
  }

  [[noreturn]] void fail_undeclared(const Token& name) const {
    std::string allowed;
    for (const std::string& variable : dialect_.variables) allowed += variable + ", ";
    source_.fail(name.offset, describe(name) + " is not a variable of this formula; expected " +
                                  (allowed.empty() ? "only pi" : "one of " + allowed + "pi"));
  }

  int name_index(const Token& name) {
    const auto known = std::find(tree_.names.begin(), tree_.names.end(), name.text);
    if (known == tree_.names.end()) {
      tree_.names.emplace_back(name.text);
      tree_.name_offsets.push_back(static_cast<std::uint32_t>(name.offset));
      return static_cast<int>(tree_.names.size()) - 1;
    }
    return static_cast<int>(known - tree_.names.begin());
  }

  /// The arguments of a call; the opening bracket has been read.
  int call(const Token& name) {
    const auto own = std::find_if(dialect_.functions.begin(), dialect_.functions.end(),
                                  [&](const Function& f) { return f.name == name.text; });
    const Function* const function =
        own != dialect_.functions.end() ? &*own : find_function(name.text);
    if (function == nullptr || !is_available(*function, dialect_.formula)) {
      fail_unknown_function(name, function);
    }
    if (function->operation == Operation::exists) return exists(name);
    const std::string of_name = " of " + describe(name);
    const bool any_number = function->arguments == kAtLeastTwo;
    const std::size_t least = any_number ? 2 : static_cast<std::size_t>(function->arguments);
    std::vector<int> arguments = {conditional()};
    while (arguments.size() < least) {
      expect(",", "and argument " + std::to_string(arguments.size() + 1) + of_name);
      arguments.push_back(conditional());
    }
    while (any_number && accept(",")) arguments.push_back(conditional());
    expect(")", (least == 1 ? "after the argument" : "after the arguments") + of_name);
    return add_node(function->operation, name.offset, std::move(arguments));
  }

  /// exists('tile'): the name is read, not a value.
  int exists(const Token& function) {
    if (token_.kind != TokenKind::string) fail_expected("a name in quotes: exists('tile')");
    const Token asked = {TokenKind::name, advance().text, function.offset};
    const int node = named_value(asked, Operation::exists);
    expect(")", "after the argument of 'exists'");
    return node;
  }

  [[noreturn]] void fail_unknown_function(const Token& name, const Function* elsewhere) const {
    std::vector<std::string> names = function_names(dialect_.formula);
    for (const Function& function : dialect_.functions) names.emplace_back(function.name);
    const std::string known = "; the functions are " + comma_list(names);
    if (elsewhere == nullptr) {
      const std::string meant = did_you_mean(name.text, names);
      source_.fail(name.offset,
                   "unknown function " + describe(name) + (meant.empty() ? known : meant));
    }
    source_.fail(name.offset, describe(name) +
                                  (dialect_.formula ? " cannot be called in a formula"
                                                    : " can only be called in a formula") +
                                  known);
  }

  const Source& source_;
  const Dialect& dialect_;
  Lexer lexer_;
  Token token_;
  Tree tree_;
  int nesting_ = 0;
};

}  // namespace

Tree parse_tree(const Source& source, const Dialect& dialect) {
  if (source.text.size() - source.begin > kMaxTextLength) {
    throw InputError(
        place_of(source.text, source.where, source.begin),
        "the expression is longer than " + std::to_string(kMaxTextLength) + " characters");
  }
  return Parser(source, dialect).parse();
}

}  // namespace kiln::expression
