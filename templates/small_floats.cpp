// Converts numbers to codes and back. Codes without their sign, in order, are the numbers in
// order: the code is the count of steps from zero.
// SPDX-License-Identifier: Apache-2.0
#include "templates/small_floats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln {
namespace {

constexpr std::uint16_t kCanonicalNan8 = 0x7f;

constexpr std::uint16_t sign_bit(const SmallFloat& format) {
  return static_cast<std::uint16_t>(1 << (format.bits - 1));
}

constexpr int min_exponent(const SmallFloat& format) { return 1 - format.bias; }

/// Code of infinity, with which the NaNs of the 16-bit formats begin.
constexpr std::uint16_t infinity_of(const SmallFloat& format) {
  return static_cast<std::uint16_t>(format.largest + 1);
}

std::uint16_t nan_of(const SmallFloat& format, std::uint16_t sign) {
  if (format.saturates) return kCanonicalNan8;
  const int quiet = 1 << (format.mantissa_bits - 1);
  return static_cast<std::uint16_t>(sign | infinity_of(format) | quiet);
}

}  // namespace

double number_of(const SmallFloat& format, std::uint16_t code) {
  const int steps = code & (sign_bit(format) - 1);
  const int mantissa = steps & ((1 << format.mantissa_bits) - 1);
  const int exponent = steps >> format.mantissa_bits;
  double magnitude = 0;
  if (steps > format.largest) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, min_exponent(format) - format.mantissa_bits);
  } else {
    magnitude = std::ldexp((1 << format.mantissa_bits) + mantissa,
                           exponent - format.bias - format.mantissa_bits);
  }
  return (code & sign_bit(format)) != 0 ? -magnitude : magnitude;
}

std::uint16_t code_of(const SmallFloat& format, double value) {
  const std::uint16_t sign = std::signbit(value) ? sign_bit(format) : std::uint16_t{0};
  if (std::isnan(value)) return nan_of(format, sign);
  const double magnitude = std::fabs(value);
  const auto beyond = format.saturates ? format.largest : infinity_of(format);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | beyond;
  const int exponent = std::max(std::ilogb(magnitude), min_exponent(format));
  const double mantissa = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const std::int64_t binades = exponent - min_exponent(format);
  const std::int64_t steps =
      (binades << format.mantissa_bits) + static_cast<std::int64_t>(mantissa);
  return static_cast<std::uint16_t>(sign | (steps > format.largest ? beyond : steps));
}

}  // namespace kiln
