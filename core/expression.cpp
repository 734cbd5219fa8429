// The public face of the expression language; the stages behind it are in core/expression/:
// lexer -> parser (tree) -> compile (bytecode) -> evaluate, and to_c from the tree.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/expression/code.hpp"
#include "core/expression/numbers.hpp"
#include "core/expression/operations.hpp"
#include "core/expression/tree.hpp"

namespace kiln::expression {
namespace {

// Runs the bytecode of an expression. Search does this for every rule and every partial config, so
// the loop allocates nothing (frames of usual size live on the stack) and plain integers never
// leave it.

/// Names and temporaries of nearly every expression; larger frames are allocated.
constexpr int kInlineFrame = 48;  // cells of 16 bytes

/// Throws EvaluationError with the place of `offset` and the text of the expression.
[[noreturn]] void throw_evaluation_error(const Expression::Code& code, std::size_t offset,
                                         const std::string& message) {
  if (code.where.line > 0 && code.where.column > 0) {
    throw EvaluationError(place_of(code.text, code.where, offset),
                          message + ", in '" + code.text + "'");
  }
  throw EvaluationError(code.where, message + column_note(code.text, offset));
}

class Machine {
 public:
  Machine(const Expression::Code& code, Cell* frame)
      : code_(code), program_(code.program), frame_(frame) {}

  Cell run() {
    const auto count = static_cast<int>(program_.instructions.size());
    const Instruction* const instructions = program_.instructions.data();
    for (int at = 0; at < count;) at = step(instructions[at], at);
    return operand(program_.result);
  }

 private:
  [[nodiscard]] const Cell& operand(int index) const {
    return index >= 0 ? frame_[index] : program_.constants[static_cast<std::size_t>(-1 - index)];
  }

  /// Runs one instruction; returns the place of the next.
  int step(const Instruction& instruction, int at) {
    switch (instruction.opcode) {
      case Opcode::and_first:
      case Opcode::and_next:
        return gather(instruction, at, false);
      case Opcode::or_first:
      case Opcode::or_next:
        return gather(instruction, at, true);
      case Opcode::branch:
        return branch(instruction, at);
      case Opcode::jump:
        return instruction.b;
      case Opcode::move:
        frame_[instruction.dst] = operand(instruction.a);
        return at + 1;
      default:
        break;
    }
    const Cell& a = operand(instruction.a);
    const Cell& b = operand(instruction.b);
    const Operation operation = to_operation(instruction.opcode);
    if (a.kind == CellKind::integer && b.kind == CellKind::integer &&
        try_integers(operation, a.integer, b.integer, frame_[instruction.dst])) {
      return at + 1;
    }
    const Cell result = apply(operation, a, b, program_.arithmetic);
    if (result.kind == CellKind::fault) return fail(result.fault, operation, a, b, at);
    frame_[instruction.dst] = result;
    return at + 1;
  }

  /// One part of an `and` (decided by false) or an `or` (decided by true). dst holds the parts so
  /// far.
  int gather(const Instruction& instruction, int at, bool decisive) {
    const Cell& value = operand(instruction.a);
    const Cell part = to_condition(value);
    if (part.kind == CellKind::fault) return fail_condition(instruction, at);
    const bool decided = part.kind == CellKind::boolean && part.boolean == decisive;
    const bool first =
        instruction.opcode == Opcode::and_first || instruction.opcode == Opcode::or_first;
    Cell& gathered = frame_[instruction.dst];
    // Once unknown, only a deciding part changes the whole. The result is the deciding part, or the
    // last one, as in Python; formulas are C source, where it is true or false.
    const bool stays = !first && !decided && gathered.kind == CellKind::unknown;
    if (!stays) gathered = program_.arithmetic == Arithmetic::exact ? value : part;
    return decided ? instruction.b : at + 1;
  }

  int branch(const Instruction& instruction, int at) {
    const Cell condition = to_condition(operand(instruction.a));
    if (condition.kind == CellKind::fault) return fail_condition(instruction, at);
    if (condition.kind == CellKind::unknown) {
      frame_[instruction.dst] = condition;
      return instruction.b - 1;
    }
    return condition.boolean ? at + 1 : instruction.b;
  }

  int fail_condition(const Instruction& instruction, int at) {
    const Cell& found = operand(instruction.a);
    return fail(Fault::needs_boolean, Operation::all_of, found, found, at);
  }

  /// Goes on behind the innermost guarded region whose guard is unknown; throws when there is none.
  int fail(Fault fault, Operation operation, const Cell& a, const Cell& b, int at) {
    for (const GuardedRegion& region : program_.guarded) {
      const bool inside = at >= region.begin && at < region.end;
      if (inside && frame_[region.dst].kind == CellKind::unknown) return region.end;
    }
    throw_evaluation_error(code_, program_.offsets[static_cast<std::size_t>(at)],
                           describe_fault(fault, operation, a, b));
  }

  const Expression::Code& code_;
  const Program& program_;
  Cell* frame_;
};

Cell run_in(const Expression::Code& code, std::span<const Value* const> slots, Cell* frame) {
  const std::size_t count = code.tree.names.size();
  for (std::size_t i = 0; i < count; ++i) {
    frame[i] = slots[i] != nullptr ? to_cell(*slots[i], code.program.arithmetic) : Cell::unknown();
  }
  return Machine(code, frame).run();
}

/// The result, `unknown` when it depends on a slot that is nullptr. A string result points into a
/// slot or into the code. One slot per name. Throws EvaluationError.
Cell run(const Expression::Code& code, std::span<const Value* const> slots) {
  if (code.program.frame_size <= kInlineFrame) {
    std::array<Cell, kInlineFrame> frame;
    return run_in(code, slots, frame.data());
  }
  std::vector<Cell> frame(static_cast<std::size_t>(code.program.frame_size));
  return run_in(code, slots, frame.data());
}

}  // namespace
}  // namespace kiln::expression

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
