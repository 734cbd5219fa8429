// Wide: a whole number beyond 64 bits, so that products of large tunables compare as numbers.
//
// Rare: plain integers never come here. Wides are interned, so that a Cell can point to one and
// equal numbers are one object. The pool is never emptied, so both a number and the pool are
// bounded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::expression {

constexpr std::size_t kMaxWideBits = 4096;                     ///< of one number
constexpr std::size_t kMaxWideBytes = std::size_t{128} << 20;  ///< of the pool

class Wide {
 public:
  explicit Wide(std::int64_t number);
  /// `number` is finite and whole.
  [[nodiscard]] static Wide from_double(double number);
  [[nodiscard]] static Wide power_of_two(std::size_t exponent);

  [[nodiscard]] bool is_zero() const { return limbs_.empty(); }
  [[nodiscard]] bool is_negative() const { return negative_; }
  [[nodiscard]] std::size_t bits() const;  ///< of the absolute value
  /// Nothing where it does not fit.
  [[nodiscard]] std::optional<std::int64_t> to_int64() const;
  /// The nearest double; infinity where there is none.
  [[nodiscard]] double to_double() const;
  [[nodiscard]] std::string text() const;  ///< decimal

  [[nodiscard]] Wide negated() const;
  [[nodiscard]] Wide plus(const Wide& other) const;
  [[nodiscard]] Wide times(const Wide& other) const;
  /// Rounds towards minus infinity; the remainder has the sign of the divisor, which is not 0.
  struct Division;
  [[nodiscard]] Division divided_by(const Wide& divisor) const;
  /// a / b as the nearest double; b is not 0.
  [[nodiscard]] static double quotient(const Wide& a, const Wide& b);

  [[nodiscard]] std::strong_ordering operator<=>(const Wide& other) const;
  friend bool operator==(const Wide&, const Wide&) = default;

 private:
  using Limbs = std::vector<std::uint32_t>;
  Wide(bool negative, Limbs limbs);
  [[nodiscard]] static std::strong_ordering compare_magnitudes(const Limbs& a, const Limbs& b);
  [[nodiscard]] static Limbs add_magnitudes(const Limbs& a, const Limbs& b);
  [[nodiscard]] static Limbs subtract_magnitudes(const Limbs& a, const Limbs& b);
  static Limbs divide_magnitudes(const Limbs& a, const Limbs& b, Limbs& remainder);

  bool negative_ = false;
  Limbs limbs_;  // lowest first, without leading zeros
};

struct Wide::Division {
  Wide quotient;
  Wide remainder;
};

/// The one object for this number; nullptr where it or the pool would grow too large. Threads may
/// call.
[[nodiscard]] const Wide* intern(Wide number);

}  // namespace kiln::expression
