// The public face of the expression language; the stages behind it are in core/expression/:
// lexer -> parser (tree) -> compile (bytecode) -> evaluate, and to_c from the tree.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression.hpp"

#include <array>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/expression/code.hpp"
#include "core/expression/evaluate.hpp"
#include "core/expression/numbers.hpp"
#include "core/expression/operations.hpp"
#include "core/expression/tree.hpp"

namespace kiln {
namespace {

using expression::Arithmetic;
using expression::Cell;
using expression::CellKind;

/// Slots of nearly every expression; more names than this are allocated.
constexpr std::size_t kInlineSlots = 32;

void complete(Expression::Code& code, const expression::Dialect& dialect) {
  code.tree = expression::parse_tree({code.text, code.where}, dialect);
  const Arithmetic arithmetic = dialect.formula ? Arithmetic::real : Arithmetic::exact;
  code.program = expression::compile(code.tree, arithmetic);
  code.is_parsed.store(true, std::memory_order_release);
}

void complete_once(Expression::Code& code) {
  static std::mutex mutex;  // one for all: each text is parsed once, in microseconds
  const std::lock_guard lock(mutex);
  if (!code.is_parsed.load(std::memory_order_relaxed)) complete(code, {});
}

std::shared_ptr<Expression::Code> unparsed_code(std::string_view text,
                                                const SourceLocation& where) {
  auto code = std::make_shared<Expression::Code>();
  code->text = text;
  code->where = where;
  return code;
}

std::shared_ptr<Expression::Code> make_code(std::string_view text, const SourceLocation& where,
                                            const expression::Dialect& dialect) {
  std::shared_ptr<Expression::Code> code = unparsed_code(text, where);
  code->is_formula = dialect.formula;
  complete(*code, dialect);
  return code;
}

const Expression::Code& present(const std::shared_ptr<Expression::Code>& code) {
  if (!code) throw std::logic_error("an Expression was used that was never parsed");
  return *code;
}

/// The value is known, or there is an error about the first name that has none.
Cell run_complete(const Expression::Code& code, std::span<const Value* const> slots) {
  const Cell result = expression::run(code, slots);
  if (result.kind != CellKind::unknown) return result;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] != nullptr) continue;
    expression::throw_evaluation_error(code, code.tree.name_offsets[i],
                                       "'" + code.tree.names[i] + "' has no value");
  }
  throw std::logic_error("an expression over known names is unknown: " + code.text);
}

/// The cell points into the scope or the code.
Cell run_over(const Expression::Code& code, const Scope& scope) {
  const auto& names = code.tree.names;
  if (names.size() <= kInlineSlots) {
    std::array<const Value*, kInlineSlots> slots;
    for (std::size_t i = 0; i < names.size(); ++i) slots[i] = scope.find(names[i]);
    return run_complete(code, std::span(slots).first(names.size()));
  }
  std::vector<const Value*> slots;
  slots.reserve(names.size());
  for (const std::string& name : names) slots.push_back(scope.find(name));
  return run_complete(code, slots);
}

[[noreturn]] void fail_type(const Expression::Code& code, std::string_view expected,
                            const Cell& found) {
  expression::throw_evaluation_error(
      code, 0, "expected " + std::string(expected) + ", found " + expression::describe(found));
}

/// The result as a value; an error where it does not fit into one.
Value value_of(const Expression::Code& code, const Cell& result) {
  if (result.kind != CellKind::wide) return to_value(result);
  const std::uint32_t place = code.tree.nodes[static_cast<std::size_t>(code.tree.root)].offset;
  expression::throw_evaluation_error(code, place,
                                     expression::describe(result) + " does not fit into 64 bits");
}

}  // namespace

Expression Expression::parse(std::string_view text, const SourceLocation& where) {
  Expression result;
  result.code_ = make_code(text, where, {});
  return result;
}

Expression Expression::defer(std::string_view text, const SourceLocation& where) {
  Expression result;
  result.code_ = unparsed_code(text, where);
  return result;
}

const Expression::Code& Expression::code() const {
  const Code& code = present(code_);
  if (!code.is_parsed.load(std::memory_order_acquire)) complete_once(*code_);
  return code;
}

Expression Expression::parse_foreign(std::string_view text, const ForeignNames& names,
                                     const SourceLocation& where) {
  Expression result;
  result.code_ = make_code(text, where, {.parameters = names.all, .texts = names.texts});
  return result;
}

Expression Expression::parse_formula(std::string_view text, std::span<const std::string> variables,
                                     const SourceLocation& where) {
  Expression result;
  result.code_ = make_code(text, where, {.formula = true, .variables = variables});
  // Refuses now what could not be written out later.
  static_cast<void>(result.to_c("double"));
  return result;
}

const std::vector<std::string>& Expression::names() const { return code().tree.names; }
const std::string& Expression::text() const { return present(code_).text; }
const SourceLocation& Expression::where() const { return present(code_).where; }
const expression::Tree& Expression::tree() const { return code().tree; }

Value Expression::evaluate(const Scope& scope) const {
  return value_of(*code_, run_over(code(), scope));
}

std::int64_t Expression::evaluate_int(const Scope& scope) const {
  const Cell result = run_over(code(), scope);
  if (result.kind == CellKind::integer) return result.integer;
  if (result.kind == CellKind::boolean) return result.boolean ? 1 : 0;
  if (result.kind == CellKind::real && std::trunc(result.real) == result.real &&
      result.real >= -kInt64Limit && result.real < kInt64Limit) {
    return static_cast<std::int64_t>(result.real);
  }
  fail_type(*code_, "a whole number", result);
}

double Expression::evaluate_number(const Scope& scope) const {
  const Cell result = run_over(code(), scope);
  if (result.kind == CellKind::string) fail_type(*code_, "a number", result);
  if (result.kind == CellKind::wide) return expression::real_of(result);
  return as_double(to_value(result));
}

bool Expression::evaluate_bool(const Scope& scope) const {
  const Cell result = run_over(code(), scope);
  const Cell condition = expression::to_condition(result);
  if (condition.kind != CellKind::boolean) fail_type(*code_, "a boolean", result);
  return condition.boolean;
}

std::string Expression::evaluate_string(const Scope& scope) const {
  const Cell result = run_over(code(), scope);
  if (result.kind != CellKind::string) fail_type(*code_, "a string", result);
  return *result.string;
}

std::optional<Value> Expression::evaluate(std::span<const Value* const> slots) const {
  const Code& code = this->code();
  if (slots.size() < code.tree.names.size()) {
    throw std::logic_error("fewer slots than names for '" + code.text + "'");
  }
  const Cell result = expression::run(code, slots);
  if (result.kind == CellKind::unknown) return std::nullopt;
  return value_of(code, result);
}

std::optional<bool> Expression::evaluate_truth(std::span<const Value* const> slots) const {
  const Code& code = this->code();
  if (slots.size() < code.tree.names.size()) {
    throw std::logic_error("fewer slots than names for '" + code.text + "'");
  }
  const Cell result = expression::to_condition(expression::run(code, slots));
  if (result.kind == CellKind::unknown) return std::nullopt;
  if (result.kind != CellKind::boolean) fail_type(code, "a boolean", expression::run(code, slots));
  return result.boolean;
}

std::string Expression::to_c(std::string_view real) const {
  const Code& code = this->code();
  if (!code.is_formula) throw std::logic_error("only formulas have C source: '" + code.text + "'");
  if (real != "float" && real != "double") {
    throw std::logic_error("formulas are over float or double, not " + std::string(real));
  }
  return expression::write_c(code.tree, {code.text, code.where}, real);
}

}  // namespace kiln
