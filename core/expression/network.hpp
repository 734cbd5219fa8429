// Network: many expressions as one graph of operations over registers, equal parts computed once.
//
// The evaluator (evaluate.hpp) runs one expression from its names to its result. A search over
// combinations of values wants more: compute each part as soon as its names have values, keep it
// while the rest varies, and know which parts are still needed. So here every operation has a
// register of its own, and failing is a value like any other (CellKind::fault) that only counts
// where the language would have reached the operation. Results are those of the evaluator, with the
// same rules for unknown names.
//
// Registers are numbered so that operands come before what is computed from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/expression/cell.hpp"
#include "core/expression/tree.hpp"

namespace kiln::expression {

using Register = std::uint32_t;

/// Operations of the tree run as they are; control flow becomes the others. One numbering for both.
enum class NetworkOpcode : std::uint8_t {
  first_operation = 0,
  truth = 64,  ///< a as the first part of an `and` or `or`
  all_of,      ///< a: the parts so far; b: the next part of an `and`
  any_of,      ///< the same of an `or`
  select,      ///< b where a is true, c where it is false
  leaf = 255,  ///< a variable or a constant: nothing to compute
};

/// dst = opcode(operands). Unary operations hold their operand twice, binary ones the second twice.
struct NetworkStep {
  NetworkOpcode opcode = NetworkOpcode::leaf;
  Register dst = 0;
  std::array<Register, 3> operands = {};
  friend bool operator==(const NetworkStep&, const NetworkStep&) = default;
};

/// Movable, not copyable: cells point into it.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = default;
  Network& operator=(Network&&) = default;

  /// A register that the user of the network sets before its operations run.
  [[nodiscard]] Register add_variable();
  /// A register that never changes. nullptr: a name without value.
  [[nodiscard]] Register add_constant(const Value* value);
  /// Adds the operations of an expression; names[i] holds tree.names[i]. Returns the register of
  /// its result. What needs constants only is computed here and now.
  [[nodiscard]] Register add(const Tree& tree, std::span<const Register> names);

  /// A value for a register; text is copied into the network.
  [[nodiscard]] Cell own(const Value& value);

  /// One per register: how to compute it, from registers with smaller numbers.
  [[nodiscard]] const std::vector<NetworkStep>& steps() const { return steps_; }
  [[nodiscard]] bool is_constant(Register reg) const { return constant_[reg]; }
  /// Constants in place; all others unknown.
  [[nodiscard]] const std::vector<Cell>& registers() const { return cells_; }

 private:
  class Builder;
  [[nodiscard]] Register add_leaf(const Cell& cell, bool constant);
  [[nodiscard]] Register add_cell(const Cell& cell);
  [[nodiscard]] Register add_step(NetworkOpcode opcode, Register a, Register b, Register c);

  std::vector<NetworkStep> steps_;
  std::vector<Cell> cells_;
  std::vector<bool> constant_;
  std::map<std::array<std::uint64_t, 2>, Register> known_;  // equal steps and constants
  std::deque<std::string> strings_;
  std::map<std::string, const std::string*, std::less<>> owned_;
};

/// Computes one register from the others. Never throws.
void run(const NetworkStep& step, Cell* registers);

}  // namespace kiln::expression
