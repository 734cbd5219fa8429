// Runs the bytecode of an expression. Search does this for every rule and every partial config, so
// the loop allocates nothing (frames of usual size live on the stack) and plain integers never
// leave it.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression/evaluate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/expression/operations.hpp"

namespace kiln::expression {
namespace {

/// Names and temporaries of nearly every expression; larger frames are allocated.
constexpr int kInlineFrame = 48;  // cells of 16 bytes

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

}  // namespace

void throw_evaluation_error(const Expression::Code& code, std::size_t offset,
                            const std::string& message) {
  if (code.where.line > 0 && code.where.column > 0) {
    throw EvaluationError(place_of(code.text, code.where, offset),
                          message + ", in '" + code.text + "'");
  }
  throw EvaluationError(code.where, message + column_note(code.text, offset));
}

Cell run(const Expression::Code& code, std::span<const Value* const> slots) {
  if (code.program.frame_size <= kInlineFrame) {
    std::array<Cell, kInlineFrame> frame;
    return run_in(code, slots, frame.data());
  }
  std::vector<Cell> frame(static_cast<std::size_t>(code.program.frame_size));
  return run_in(code, slots, frame.data());
}

}  // namespace kiln::expression
