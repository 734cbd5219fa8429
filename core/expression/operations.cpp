// The slow and complete form of every operation; evaluate.cpp has short cuts for plain integers.
// SPDX-License-Identifier: Apache-2.0
#include "core/expression/operations.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "core/dtype.hpp"
#include "core/expression/comparisons.hpp"
#include "core/expression/numbers.hpp"

namespace kiln::expression {
namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
/// Integers, booleans and whole reals as an integer.
std::optional<std::int64_t> whole_of(const Cell& cell) {
  if (cell.kind == CellKind::wide) return std::nullopt;
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

bool is_exact_double(std::int64_t number) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  return number >= -kExact && number <= kExact;
}

constexpr int kWideBits = 95;  // of the absolute value

Int128 floor_quotient(Int128 a, Int128 b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Cell wide_product(Int128 a, Int128 b) {
  Int128 product = 0;
  return __builtin_mul_overflow(a, b, &product) ? Cell(Fault::overflow) : Cell::whole(product);
}

/// overflow: on_wides() knows the result.
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
      if (!is_exact_double(a) || !is_exact_double(b)) return Cell(Fault::overflow);
      return Cell(static_cast<double>(a) / static_cast<double>(b));
    case Operation::bit_not:
      return Cell(~a);
    case Operation::bit_and:
      return Cell(a & b);
    case Operation::bit_or:
      return Cell(a | b);
    case Operation::bit_xor:
      return Cell(a ^ b);
    case Operation::shift_left:
      if (b < 0) return Cell(Fault::negative_shift);
      if (b > 62) return a == 0 ? Cell(a) : Cell(Fault::overflow);
      return checked(__builtin_mul_overflow(a, std::int64_t{1} << b, &result), result);
    case Operation::shift_right:
      if (b < 0) return Cell(Fault::negative_shift);
      return Cell(a >> std::min<std::int64_t>(b, 63));
    case Operation::floor_divide:
      return divided(a, b, [&] { return Cell(floor_divide(a, b)); });
    case Operation::modulo:
      return b == -1 ? Cell(std::int64_t{0})
                     : divided(a, b, [&] { return Cell(floor_modulo(a, b)); });
    case Operation::power:
      if (b >= 0) return integer_power(a, b);
      if (a == 0) return Cell(Fault::division_by_zero);
      return Cell(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Operation::ceil_divide:
      return divided(a, b, [&] { return Cell(ceil_divide(a, b)); });
    default:  // round_up
      return divided(a, b, [&] {
        return checked(__builtin_mul_overflow(ceil_divide(a, b), b, &result), result);
      });
  }
}

/// exponent >= 0
Cell wide_power(Int128 base, std::int64_t exponent) {
  if (base == 0 || base == 1) return Cell::whole(exponent == 0 ? 1 : base);
  Int128 result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (base == -1 && i == exponent % 2) break;
    if (__builtin_mul_overflow(result, base, &result)) return Cell(Fault::overflow);
  }
  return Cell::whole(result);
}

Cell wide_shift(Operation operation, Int128 a, const Cell& count) {
  if (count.kind == CellKind::wide) return Cell(Fault::overflow);
  const std::int64_t bits = integer_of(count);
  if (bits < 0) return Cell(Fault::negative_shift);
  if (operation == Operation::shift_right)
    return Cell::whole(a >> std::min<std::int64_t>(bits, kWideBits));
  return bits > kWideBits ? Cell(Fault::overflow) : wide_product(a, Int128{1} << bits);
}

/// Whole numbers of which one, or the result, is beyond 64 bits.
Cell on_wides(Operation operation, const Cell& left, const Cell& right) {
  const Int128 a = wide_of(left);
  const Int128 b = wide_of(right);
  switch (operation) {
    case Operation::negate:
      return Cell::whole(-a);
    case Operation::absolute:
      return Cell::whole(a < 0 ? -a : a);
    case Operation::add:
      return Cell::whole(a + b);
    case Operation::subtract:
      return Cell::whole(a - b);
    case Operation::multiply:
      return wide_product(a, b);
    case Operation::power:
      if (right.kind == CellKind::wide) return Cell(Fault::overflow);
      if (b >= 0) return wide_power(a, integer_of(right));
      return Cell(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Operation::shift_left:
    case Operation::shift_right:
      return wide_shift(operation, a, right);
    case Operation::bit_not:
      return Cell::whole(~a);
    case Operation::bit_and:
      return Cell::whole(a & b);
    case Operation::bit_or:
      return Cell::whole(a | b);
    case Operation::bit_xor:
      return Cell::whole(a ^ b);
    default:
      break;
  }
  if (b == 0) return Cell(Fault::division_by_zero);
  if (operation == Operation::divide)
    return Cell(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
  if (operation == Operation::floor_divide) return Cell::whole(floor_quotient(a, b));
  if (operation == Operation::modulo) return Cell::whole(a - floor_quotient(a, b) * b);
  const Int128 up = -floor_quotient(-a, b);
  return operation == Operation::ceil_divide ? Cell::whole(up) : wide_product(up, b);
}

double modulo(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/// As Python: no infinities out of numbers, no complex numbers.
Cell real_power(double a, double b) {
  if (a == 0 && b < 0) return Cell(Fault::division_by_zero);
  const double power = std::pow(a, b);
  if (std::isnan(power) && !std::isnan(a) && !std::isnan(b)) return Cell(Fault::not_real);
  if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) return Cell(Fault::overflow);
  return Cell(power);
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
      if (by_zero) return Cell(Fault::division_by_zero);
      return Cell(arithmetic == Arithmetic::exact ? floor_divide(a, b) : std::floor(a / b));
    case Operation::modulo:
      return by_zero ? Cell(Fault::division_by_zero) : Cell(modulo(a, b));
    case Operation::power:
      return arithmetic == Arithmetic::exact ? real_power(a, b) : Cell(std::pow(a, b));
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
    case Operation::hyperbolic_tangent:
      return Cell(std::tanh(a));
    case Operation::error_function:
      return Cell(std::erf(a));
    default:  // round_down
      return Cell(std::floor(a));
  }
}

bool is_of_bits(Operation operation) {
  return operation == Operation::bit_not ||
         (operation >= Operation::bit_and && operation <= Operation::shift_right);
}

/// b is a itself for unary operations.
Cell on_numbers(Operation operation, const Cell& a, const Cell& b, Arithmetic arithmetic) {
  if (!is_numeric(a) || !is_numeric(b)) return Cell(Fault::needs_number);
  const bool has_real = a.kind == CellKind::real || b.kind == CellKind::real;
  if (has_real && is_of_bits(operation)) return Cell(Fault::needs_integer);
  if (has_real || arithmetic == Arithmetic::real) {
    return on_reals(operation, real_of(a), real_of(b), arithmetic);
  }
  if (a.kind == CellKind::wide || b.kind == CellKind::wide) return on_wides(operation, a, b);
  const bool booleans = a.kind == CellKind::boolean && b.kind == CellKind::boolean;
  const Cell result = on_integers(operation, integer_of(a), integer_of(b));
  if (result.kind == CellKind::fault && result.fault == Fault::overflow) {
    return on_wides(operation, a, b);
  }
  const bool stays_boolean =
      booleans && operation >= Operation::bit_and && operation <= Operation::bit_xor;
  return stays_boolean ? Cell(result.integer != 0) : result;
}

Cell to_integer(const Cell& a) {
  if (!is_numeric(a)) return Cell(Fault::needs_number);
  if (a.kind == CellKind::wide) return a;
  if (a.kind != CellKind::real) return Cell(integer_of(a));
  if (!std::isfinite(a.real)) return Cell(Fault::overflow);
  if (std::fabs(a.real) >= 0x1p95) return Cell(Fault::overflow);
  return Cell::whole(static_cast<Int128>(std::trunc(a.real)));
}

Cell is_power_of_two(const Cell& a) {
  if (!is_numeric(a)) return Cell(Fault::needs_number);
  if (a.kind == CellKind::wide) return Cell(Fault::overflow);
  const auto whole = whole_of(a);
  return Cell(whole && *whole > 0 && std::has_single_bit(static_cast<std::uint64_t>(*whole)));
}

Cell floor_log2(const Cell& a) {
  if (!is_numeric(a)) return Cell(Fault::needs_number);
  if (a.kind == CellKind::wide) return Cell(Fault::overflow);
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

/// Whether the name stands in the formula's text as a word of its own.
Cell uses(const Cell& formula, const Cell& name) {
  if (formula.kind != CellKind::string || name.kind != CellKind::string)
    return Cell(Fault::needs_strings);
  const std::string& text = *formula.string;
  const auto is_word = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = begin;
    while (is_word(end)) ++end;
    if (end > begin && text.compare(begin, end - begin, *name.string) == 0) return Cell(true);
    begin = std::max(end, begin + 1);
  }
  return Cell(false);
}

Cell negate_condition(const Cell& a) {
  const Cell condition = to_condition(a);
  return condition.kind == CellKind::boolean ? Cell(!condition.boolean) : condition;
}

}  // namespace

double floor_divide(double a, double b) {
  const double quotient = (a - modulo(a, b)) / b;
  const double below = std::floor(quotient);
  return quotient - below > 0.5 ? below + 1 : below;
}

Cell to_condition(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::unknown:
    case CellKind::boolean:
      return cell;
    case CellKind::integer:
      return Cell(cell.integer != 0);
    case CellKind::real:
      return Cell(cell.real != 0);
    case CellKind::wide:
      return Cell(true);
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
    case Operation::to_integer:
      return to_integer(a);
    case Operation::to_real:
      return is_numeric(a) ? Cell(real_of(a)) : Cell(Fault::needs_number);
    case Operation::to_boolean:
      return to_condition(a);
    default:
      break;
  }
  if (b.kind == CellKind::unknown) return b;
  switch (operation) {
    case Operation::uses:
      return uses(a, b);
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::equal:
    case Operation::not_equal:
      return compare(operation, a, b);
    case Operation::minimum:
    case Operation::maximum:
      if (arithmetic == Arithmetic::exact) return choose(operation, a, b);
      return on_numbers(operation, a, b, arithmetic);
    default:
      return on_numbers(operation, a, b, arithmetic);
  }
}

}  // namespace kiln::expression
