// SPDX-License-Identifier: Apache-2.0
#include "interchange/value_list.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/expression.hpp"
#include "core/expression/lexer.hpp"

namespace kiln::interchange {
namespace {

using expression::Lexer;
using expression::Source;
using expression::Token;
using expression::TokenKind;

constexpr std::size_t kMaxListValues = 65'534;
constexpr std::size_t kMaxText = 1 << 20;  // characters

constexpr const char* kForms =
    "[values], [expression for name in range(...)], list(range(...)) or a sum of those";

class ListParser {
 public:
  ListParser(std::string_view text, const SourceLocation& where)
      : source_{text, where}, lexer_(source_), token_(lexer_.next()) {}

  std::vector<Value> parse() {
    do {
      list();
    } while (accept("+"));
    if (token_.kind != TokenKind::end) fail(fmt::format("'+' or the end of the list"));
    return std::move(values_);
  }

 private:
  /// The half-open text of an item, and the token behind it.
  struct Item {
    std::string_view text;
    std::size_t offset = 0;
  };

  void list() {
    if (accept("[")) {
      brackets();
    } else if (accept_name("list")) {
      expect("(");
      for (const std::int64_t i : range()) add(i);
      expect(")");
    } else if (at_name("range")) {
      for (const std::int64_t i : range()) add(i);
    } else {
      fail(kForms);
    }
  }

  void brackets() {
    if (accept("]")) return;
    const Item first = item();
    if (accept_name("for")) {
      comprehension(first);
    } else {
      add(evaluate(first, {}));
      while (accept(",")) {
        if (at("]")) break;
        add(evaluate(item(), {}));
      }
    }
    expect("]");
  }

  void comprehension(const Item& each) {
    if (token_.kind != TokenKind::name) fail("a name behind 'for'");
    const std::string name(advance().text);
    expect("in");
    const Expression expression = parse_item(each);
    for (const std::int64_t i : range()) {
      Scope scope;
      scope.set(name, i);
      add(expression.evaluate(scope));
    }
  }

  std::vector<std::int64_t> range() {
    const std::size_t offset = token_.offset;
    if (!accept_name("range")) fail("range(...)");
    expect("(");
    std::vector<std::int64_t> arguments;
    do {
      const Item argument = item();
      arguments.push_back(parse_item(argument).evaluate_int(Scope()));
    } while (accept(",") && arguments.size() < 3);
    expect(")");
    const std::int64_t begin = arguments.size() == 1 ? 0 : arguments[0];
    const std::int64_t end = arguments.size() == 1 ? arguments[0] : arguments[1];
    const std::int64_t step = arguments.size() == 3 ? arguments[2] : 1;
    if (step == 0) source_.fail(offset, "the step of a range cannot be 0");
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = begin; step > 0 ? i < end : i > end;) {
      if (numbers.size() == kMaxListValues) {
        source_.fail(offset, fmt::format("more than {} values", kMaxListValues));
      }
      numbers.push_back(i);
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return numbers;
  }

  /// Skips one expression: up to a comma, a closing bracket or `for` outside of its own brackets.
  Item item() {
    const std::size_t begin = token_.offset;
    int open = 0;
    while (token_.kind != TokenKind::end) {
      if (open == 0 && (at(",") || at(")") || at("]") || at_name("for"))) break;
      if (at("(") || at("[")) ++open;
      if (at(")") || at("]")) --open;
      advance();
    }
    return {source_.text.substr(begin, token_.offset - begin), begin};
  }

  [[nodiscard]] Expression parse_item(const Item& item) const {
    const std::size_t last = item.text.find_last_not_of(" \t\r\n");
    const std::string_view text =
        item.text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const bool known = source_.where.line > 0 && source_.where.column > 0;
    return Expression::parse(
        text,
        known ? expression::place_of(source_.text, source_.where, item.offset) : source_.where);
  }

  [[nodiscard]] Value evaluate(const Item& item, const Scope& scope) const {
    return parse_item(item).evaluate(scope);
  }

  void add(Value value) {
    if (values_.size() == kMaxListValues) {
      source_.fail(token_.offset, fmt::format("more than {} values", kMaxListValues));
    }
    values_.push_back(std::move(value));
  }

  [[noreturn]] void fail(const std::string& expected) const {
    source_.fail(token_.offset,
                 fmt::format("expected {}, found {}", expected, expression::describe(token_)));
  }

  Token advance() { return std::exchange(token_, lexer_.next()); }
  [[nodiscard]] bool at(std::string_view symbol) const {
    return token_.kind == TokenKind::symbol && token_.text == symbol;
  }
  [[nodiscard]] bool at_name(std::string_view name) const {
    return token_.kind == TokenKind::name && token_.text == name;
  }
  bool accept(std::string_view symbol) {
    if (!at(symbol)) return false;
    advance();
    return true;
  }
  bool accept_name(std::string_view name) {
    if (!at_name(name)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail(fmt::format("'{}'", symbol));
  }

  Source source_;
  Lexer lexer_;
  Token token_;
  std::vector<Value> values_;
};

}  // namespace

std::vector<Value> parse_value_list(std::string_view text, const SourceLocation& where) {
  if (text.size() > kMaxText) {
    throw InputError(where, fmt::format("the list is longer than {} characters", kMaxText));
  }
  return ListParser(text, where).parse();
}

}  // namespace kiln::interchange
