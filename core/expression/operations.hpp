// What each operation of the expression language computes, for every kind of operand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/expression/cell.hpp"
#include "core/expression/tree.hpp"

namespace kiln::expression {

/// The result of a unary (b is ignored) or binary operation: a value, `unknown` when an operand is,
/// or a fault. Never throws. Not for control flow (and, or, in, if) and leaves.
[[nodiscard]] Cell apply(Operation operation, const Cell& a, const Cell& b, Arithmetic arithmetic);

/// A condition as it counts for `and`, `or`, `not`, `if`: booleans, and the numbers 0 and 1.
/// unknown and fault (needs_boolean) come back as they are.
[[nodiscard]] Cell to_condition(const Cell& cell);

/// Why the operation failed on these operands, in words: "division by zero".
[[nodiscard]] std::string describe_fault(Fault fault, Operation operation, const Cell& a,
                                         const Cell& b);

/// "the string 'f32'", "3", "true": an operand in a message.
[[nodiscard]] std::string describe(const Cell& cell);

/// Floor division and modulo of integers as in Python: the remainder has the sign of the divisor.
/// b is not 0, and not -1 where a is the smallest integer.
[[nodiscard]] constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
[[nodiscard]] constexpr std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

}  // namespace kiln::expression
