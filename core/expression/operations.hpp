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

/// A condition as it counts for `and`, `or`, `not`, `if`: of numbers 0 is false and every other one
/// true. unknown comes back as it is, a string as a fault (needs_boolean).
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

/// a // b of floats as Python computes it: the floor of the exact quotient (1.0 // 0.1 is 9.0). b
/// is not 0.
[[nodiscard]] double floor_divide(double a, double b);

/// The common operations on integers; false leaves the case, and
/// `result`, to apply().
[[nodiscard]] inline bool try_integers(Operation operation, std::int64_t a, std::int64_t b,
                                       Cell& result) {
  std::int64_t number = 0;
  switch (operation) {
    case Operation::add:
      if (__builtin_add_overflow(a, b, &number)) return false;
      break;
    case Operation::subtract:
      if (__builtin_sub_overflow(a, b, &number)) return false;
      break;
    case Operation::multiply:
      if (__builtin_mul_overflow(a, b, &number)) return false;
      break;
    case Operation::floor_divide:
      if (b <= 0) return false;
      number = floor_divide(a, b);
      break;
    case Operation::modulo:
      if (b <= 0) return false;
      number = floor_modulo(a, b);
      break;
    case Operation::minimum:
      number = b < a ? b : a;
      break;
    case Operation::maximum:
      number = b > a ? b : a;
      break;
    case Operation::less:
      result = Cell(a < b);
      return true;
    case Operation::less_equal:
      result = Cell(a <= b);
      return true;
    case Operation::greater:
      result = Cell(a > b);
      return true;
    case Operation::greater_equal:
      result = Cell(a >= b);
      return true;
    case Operation::equal:
      result = Cell(a == b);
      return true;
    case Operation::not_equal:
      result = Cell(a != b);
      return true;
    default:
      return false;
  }
  result = Cell(number);
  return true;
}

}  // namespace kiln::expression
