// The slow and complete form of every operation; evaluate.cpp has short cuts for plain integers.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression/operations.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "core/dtype.hpp"

namespace kiln::expression {
namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
constexpr double kInt64Limit = 9223372036854775808.0;  // 2^63

bool is_numeric(const Cell& cell) {
  return cell.kind == CellKind::boolean || cell.kind == CellKind::integer ||
         cell.kind == CellKind::real;
}

double real_of(const Cell& cell) {
  if (cell.kind == CellKind::real) return cell.real;
  return cell.kind == CellKind::integer ? static_cast<double>(cell.integer)
                                        : static_cast<double>(cell.boolean);
}

std::int64_t integer_of(const Cell& cell) {
  return cell.kind == CellKind::integer ? cell.integer : static_cast<std::int64_t>(cell.boolean);
}

/// Integers, booleans and whole reals as an integer.
std::optional<std::int64_t> whole_of(const Cell& cell) {
  if (cell.kind != CellKind::real) return integer_of(cell);
  const bool fits = cell.real >= -kInt64Limit && cell.real < kInt64Limit;
  if (!fits || std::trunc(cell.real) != cell.real) return std::nullopt;
  return static_cast<std::int64_t>(cell.real);
}

Cell integer_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  while (true) {
    if (exponent % 2 != 0 && __builtin_mul_overflow(result, base, &result)) {
      return Cell(Fault::overflow);
    }
    exponent /= 2;
    if (exponent == 0) return Cell(result);
    if (__builtin_mul_overflow(base, base, &base)) return Cell(Fault::overflow);
  }
}

/// a / b rounded up. b is not 0, and not -1 where a is the smallest integer.
std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  return a % b != 0 ? floor_divide(a, b) + 1 : a / b;
}

/// The result of one of GCC's overflow builtins.
Cell checked(bool overflow, const std::int64_t& result) {
  return overflow ? Cell(Fault::overflow) : Cell(result);
}

/// Division whose quotient may not exist: `divide` runs only where it does.
template <typename Divide>
Cell divided(std::int64_t a, std::int64_t b, const Divide& divide) {
  if (b == 0) return Cell(Fault::division_by_zero);
  if (a == kSmallest && b == -1) return Cell(Fault::overflow);
  return divide();
}

Cell on_integers(Operation operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (operation) {
    case Operation::negate:
      return checked(__builtin_sub_overflow(std::int64_t{0}, a, &result), result);
    case Operation::absolute:
      return a == kSmallest ? Cell(Fault::overflow) : Cell(a < 0 ? -a : a);
    case Operation::add:
      return checked(__builtin_add_overflow(a, b, &result), result);
    case Operation::subtract:
      return checked(__builtin_sub_overflow(a, b, &result), result);
    case Operation::multiply:
      return checked(__builtin_mul_overflow(a, b, &result), result);
    case Operation::divide:
      if (b == 0) return Cell(Fault::division_by_zero);
      return Cell(static_cast<double>(a) / static_cast<double>(b));
    case Operation::floor_divide:
      return divided(a, b, [&] { return Cell(floor_divide(a, b)); });
    case Operation::modulo:
      return b == -1 ? Cell(std::int64_t{0})
                     : divided(a, b, [&] { return Cell(floor_modulo(a, b)); });
    case Operation::power:
      if (b >= 0) return integer_power(a, b);
      if (a == 0) return Cell(Fault::division_by_zero);
      return Cell(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Operation::minimum:
      return Cell(b < a ? b : a);
    case Operation::maximum:
      return Cell(b > a ? b : a);
    case Operation::ceil_divide:
      return divided(a, b, [&] { return Cell(ceil_divide(a, b)); });
    default:  // round_up
      return divided(a, b, [&] {
        return checked(__builtin_mul_overflow(ceil_divide(a, b), b, &result), result);
      });
  }
}

double modulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

Cell on_reals(Operation operation, double a, double b, Arithmetic arithmetic) {
  // A formula divides by zero like the kernel that it describes.
  const bool by_zero = b == 0 && arithmetic == Arithmetic::exact;
  switch (operation) {
    case Operation::negate:
      return Cell(-a);
    case Operation::absolute:
      return Cell(std::fabs(a));
    case Operation::add:
      return Cell(a + b);
    case Operation::subtract:
      return Cell(a - b);
    case Operation::multiply:
      return Cell(a * b);
    case Operation::divide:
      return by_zero ? Cell(Fault::division_by_zero) : Cell(a / b);
    case Operation::floor_divide:
      return by_zero ? Cell(Fault::division_by_zero) : Cell(std::floor(a / b));
    case Operation::modulo:
      return by_zero ? Cell(Fault::division_by_zero) : Cell(modulo(a, b));
    case Operation::power:
    case Operation::real_power:
      return Cell(std::pow(a, b));
    case Operation::minimum:
      return Cell(std::fmin(a, b));
    case Operation::maximum:
      return Cell(std::fmax(a, b));
    case Operation::ceil_divide:
      return by_zero ? Cell(Fault::division_by_zero) : Cell(std::ceil(a / b));
    case Operation::round_up:
      return by_zero ? Cell(Fault::division_by_zero) : Cell(std::ceil(a / b) * b);
    case Operation::sine:
      return Cell(std::sin(a));
    case Operation::cosine:
      return Cell(std::cos(a));
    case Operation::tangent:
      return Cell(std::tan(a));
    case Operation::exponential:
      return Cell(std::exp(a));
    case Operation::logarithm:
      return Cell(std::log(a));
    case Operation::square_root:
      return Cell(std::sqrt(a));
    default:  // round_down
      return Cell(std::floor(a));
  }
}

/// b is a itself for unary operations.
Cell on_numbers(Operation operation, const Cell& a, const Cell& b, Arithmetic arithmetic) {
  if (!is_numeric(a) || !is_numeric(b)) return Cell(Fault::needs_number);
  const bool has_real = a.kind == CellKind::real || b.kind == CellKind::real;
  if (has_real || arithmetic == Arithmetic::real) {
    return on_reals(operation, real_of(a), real_of(b), arithmetic);
  }
  return on_integers(operation, integer_of(a), integer_of(b));
}

template <typename T>
bool holds(Operation operation, const T& a, const T& b) {
  switch (operation) {
    case Operation::less:
      return a < b;
    case Operation::less_equal:
      return a <= b;
    case Operation::greater:
      return a > b;
    case Operation::greater_equal:
      return a >= b;
    case Operation::equal:
      return a == b;
    default:  // not_equal
      return a != b;
  }
}

Cell compare(Operation operation, const Cell& a, const Cell& b) {
  const bool a_is_string = a.kind == CellKind::string;
  const bool b_is_string = b.kind == CellKind::string;
  if (a_is_string && b_is_string) return Cell(holds(operation, *a.string, *b.string));
  if (a_is_string || b_is_string) {
    if (operation == Operation::equal) return Cell(false);
    if (operation == Operation::not_equal) return Cell(true);
    return Cell(Fault::needs_like_types);
  }
  if (a.kind == CellKind::real || b.kind == CellKind::real) {
    return Cell(holds(operation, real_of(a), real_of(b)));
  }
  return Cell(holds(operation, integer_of(a), integer_of(b)));
}

Cell is_power_of_two(const Cell& a) {
  if (!is_numeric(a)) return Cell(Fault::needs_number);
  const auto whole = whole_of(a);
  return Cell(whole && *whole > 0 && std::has_single_bit(static_cast<std::uint64_t>(*whole)));
}

Cell floor_log2(const Cell& a) {
  if (!is_numeric(a)) return Cell(Fault::needs_number);
  const auto whole = whole_of(a);
  if (!whole || *whole <= 0) return Cell(Fault::needs_positive_integer);
  const auto bits = std::bit_width(static_cast<std::uint64_t>(*whole));
  return Cell(static_cast<std::int64_t>(bits) - 1);
}

Cell size_of_dtype(const Cell& a) {
  if (a.kind != CellKind::string) return Cell(Fault::needs_dtype);
  const auto type = parse_dtype(*a.string);
  if (!type) return Cell(Fault::needs_dtype);
  return Cell(static_cast<std::int64_t>(size_of(*type)));
}

Cell negate_condition(const Cell& a) {
  const Cell condition = to_condition(a);
  return condition.kind == CellKind::boolean ? Cell(!condition.boolean) : condition;
}

}  // namespace

Cell to_condition(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::unknown:
    case CellKind::boolean:
      return cell;
    case CellKind::integer:
      if (cell.integer == 0 || cell.integer == 1) return Cell(cell.integer == 1);
      break;
    case CellKind::real:
      if (cell.real == 0 || cell.real == 1) return Cell(cell.real == 1);
      break;
    default:
      break;
  }
  return Cell(Fault::needs_boolean);
}

Cell apply(Operation operation, const Cell& a, const Cell& b, Arithmetic arithmetic) {
  if (a.kind == CellKind::unknown) return a;
  switch (operation) {
    case Operation::logical_not:
      return negate_condition(a);
    case Operation::is_power_of_two:
      return is_power_of_two(a);
    case Operation::floor_log2:
      return floor_log2(a);
    case Operation::size_of:
      return size_of_dtype(a);
    default:
      break;
  }
  if (b.kind == CellKind::unknown) return b;
  switch (operation) {
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::equal:
    case Operation::not_equal:
      return compare(operation, a, b);
    default:
      return on_numbers(operation, a, b, arithmetic);
  }
}

}  // namespace kiln::expression
