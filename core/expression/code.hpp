// The compiled form of an expression: three-address bytecode over a frame of cells.
//
//   frame = [ one cell per name | temporaries ]
//   operand k >= 0: frame[k]; k < 0: constants[-1 - k]
//
// Leaves (names and constants) cost no instruction: they are operands. Made by compile(), run by
// evaluate.cpp, immutable in between.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/expression.hpp"
#include "core/expression/cell.hpp"
#include "core/expression/tree.hpp"

namespace kiln::expression {

/// Operations of the tree run as they are; these are what control flow becomes. One numbering for
/// both.
enum class Opcode : std::uint8_t {
  first_operation = 0,  // the values of Operation come first
  // `and`, `or`: combines operand a into dst (which starts as the left-most operand), jumps to b
  // when the result is decided.
  and_first = 64,
  and_next,
  or_first,
  or_next,
  // Conditional: a true: goes on; false: jumps to b; unknown: dst is unknown, jumps to b - 1, which
  // is the jump behind the `then` branch.
  branch,
  jump,  // to b
  move,  // dst = a
};

[[nodiscard]] constexpr Opcode to_opcode(Operation operation) {
  return static_cast<Opcode>(operation);
}
[[nodiscard]] constexpr Operation to_operation(Opcode opcode) {
  return static_cast<Operation>(opcode);
}

/// Text and nesting limits (tree.hpp) keep every number below within 16 bits.
struct Instruction {
  Opcode opcode;
  std::int16_t dst;
  std::int16_t a;
  std::int16_t b;  ///< second operand or jump target
};

/// Instructions [begin, end) run only while the `and` or `or` in `dst` is undecided. If `dst` is
/// unknown and one of them fails, the result is unknown: the missing value may guard against the
/// fault, as in `tile != 0 and n % tile == 0`.
struct GuardedRegion {
  std::int16_t begin;
  std::int16_t end;
  std::int16_t dst;
};

/// Bytecode and what it needs to run.
struct Program {
  std::vector<Instruction> instructions;
  std::vector<std::uint32_t> offsets;  ///< per instruction: where in the text, for messages
  std::vector<GuardedRegion> guarded;  ///< inner before outer
  std::vector<Cell> constants;
  std::deque<std::string> strings;  ///< what string constants point to
  int result = 0;                   ///< operand
  int frame_size = 0;               ///< names and temporaries
  Arithmetic arithmetic = Arithmetic::exact;
};

[[nodiscard]] Program compile(const Tree& tree, Arithmetic arithmetic);

/// C source of a formula's tree; see Expression::to_c. Throws InputError when it would grow too
/// long.
[[nodiscard]] std::string write_c(const Tree& tree, const Source& source, std::string_view real);

}  // namespace kiln::expression

namespace kiln {

/// Text and place are there from the start; the rest may be made at its first use, by whoever comes
/// first.
struct Expression::Code {
  std::string text;
  SourceLocation where;
  bool is_formula = false;
  expression::Tree tree;
  expression::Program program;
  std::atomic<bool> is_parsed = false;  ///< tree and program are there
};

}  // namespace kiln
