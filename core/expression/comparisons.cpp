// SPDX-License-Identifier: Apache-2.0
#include "core/expression/comparisons.hpp"

#include <cmath>
#include <compare>

#include "core/expression/numbers.hpp"
#include "core/expression/operations.hpp"

namespace kiln::expression {
namespace {

constexpr double kWideLimit = 0x1p95;

bool holds(Operation operation, std::partial_ordering order) {
  switch (operation) {
    case Operation::less:
      return std::is_lt(order);
    case Operation::less_equal:
      return std::is_lteq(order);
    case Operation::greater:
      return std::is_gt(order);
    case Operation::greater_equal:
      return std::is_gteq(order);
    case Operation::equal:
      return std::is_eq(order);
    default:  // not_equal
      return std::is_neq(order);
  }
}

/// Exact, as in Python: a double does not hold every 64-bit number.
std::partial_ordering order_of(const Cell& whole, double real) {
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (std::isinf(real)) return 0.0 <=> real;
  const double below = std::floor(real);
  if (std::fabs(below) >= kWideLimit) return 0.0 <=> real;
  const std::strong_ordering order = wide_of(whole) <=> static_cast<Int128>(below);
  return std::is_neq(order) ? std::partial_ordering(order) : below <=> real;
}

/// The order of b and a, where `order` is that of a and b.
std::partial_ordering reversed(std::partial_ordering order) {
  if (std::is_lt(order)) return std::partial_ordering::greater;
  if (std::is_gt(order)) return std::partial_ordering::less;
  return order;
}

std::partial_ordering order_of(const Cell& a, const Cell& b) {
  if (a.kind == CellKind::real && b.kind == CellKind::real) return a.real <=> b.real;
  if (b.kind == CellKind::real) return order_of(a, b.real);
  if (a.kind == CellKind::real) return reversed(order_of(b, a.real));
  return wide_of(a) <=> wide_of(b);
}

}  // namespace

Cell compare(Operation operation, const Cell& a, const Cell& b) {
  const bool a_is_string = a.kind == CellKind::string;
  const bool b_is_string = b.kind == CellKind::string;
  if (a_is_string && b_is_string) return Cell(holds(operation, *a.string <=> *b.string));
  if (a_is_string || b_is_string) {
    if (operation == Operation::equal) return Cell(false);
    if (operation == Operation::not_equal) return Cell(true);
    return Cell(Fault::needs_like_types);
  }
  return Cell(holds(operation, order_of(a, b)));
}

Cell choose(Operation operation, const Cell& a, const Cell& b) {
  if (!is_numeric(a) || !is_numeric(b)) return Cell(Fault::needs_number);
  const std::partial_ordering order = order_of(b, a);
  return (operation == Operation::minimum ? std::is_lt(order) : std::is_gt(order)) ? b : a;
}

}  // namespace kiln::expression
