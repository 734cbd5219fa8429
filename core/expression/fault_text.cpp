// Faults of an evaluation in words.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "core/expression/numbers.hpp"
#include "core/expression/operations.hpp"

namespace kiln::expression {
namespace {

bool is_unary(Operation operation) {
  switch (operation) {
    case Operation::negate:
    case Operation::absolute:
    case Operation::bit_not:
    case Operation::to_integer:
    case Operation::to_real:
    case Operation::is_power_of_two:
    case Operation::floor_log2:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string describe(const Cell& cell) {
  if (cell.kind == CellKind::string) return "the string '" + *cell.string + "'";
  if (cell.kind == CellKind::wide) return fmt::format("{}", wide_of(cell));
  return to_text(to_value(cell));
}

std::string describe_fault(Fault fault, Operation operation, const Cell& a, const Cell& b) {
  const std::string sign = "'" + std::string(spelling(operation)) + "'";
  switch (fault) {
    case Fault::division_by_zero:
      return "division by zero";
    case Fault::overflow:
      return sign + " of " + describe(a) + (is_unary(operation) ? "" : " and " + describe(b)) +
             " is too large";
    case Fault::needs_number:
      return sign + " needs numbers, found " + describe(a.kind == CellKind::string ? a : b);
    case Fault::needs_boolean:
      return "expected a boolean, found " + describe(a);
    case Fault::needs_like_types:
      return sign + " needs two numbers or two strings, found " + describe(a) + " and " +
             describe(b);
    case Fault::needs_positive_integer:
      return sign + " needs a positive whole number, found " + describe(a);
    case Fault::needs_integer: {
      const bool first = a.kind == CellKind::string || a.kind == CellKind::real;
      return sign + " needs whole numbers, found " + describe(first ? a : b);
    }
    case Fault::negative_shift:
      return sign + " by a negative number: " + describe(b);
    case Fault::not_real:
      return sign + " of " + describe(a) + " and " + describe(b) + " is no real number";
    case Fault::needs_strings:
      return sign + " needs a formula and a name, found " + describe(a) + " and " + describe(b);
    case Fault::needs_dtype:
      break;
  }
  std::string types;
  for (const DType type : all_dtypes())
    types += (types.empty() ? "" : ", ") + std::string(name_of(type));
  return sign + " needs an element type (" + types + "), found " + describe(a);
}

}  // namespace kiln::expression
