// Floating-point formats of 8 and 16 bits: which number a code stands for, and which code a number
// gets. C++ has no types for them, so host arrays hold the codes.
//
// The conversions agree with those of the devices (docs/dialect.md). Pure; any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kiln {

/// A sign bit, then the exponent, then the mantissa; subnormal numbers as in IEEE 754.
struct SmallFloat {
  int bits;               ///< 8 or 16
  int mantissa_bits;      ///< without the implicit one
  int bias;               ///< of the exponent
  std::uint16_t largest;  ///< code of the largest finite number
  /// Numbers that round beyond the largest one become the largest one, infinities too, and NaN is
  /// the code 0x7f: the `satfinite` conversions of CUDA. Otherwise they become infinity, and NaN
  /// keeps its sign.
  bool saturates;
};

inline constexpr SmallFloat kE4m3{8, 3, 7, 0x7e, true};
inline constexpr SmallFloat kE5m2{8, 2, 15, 0x7b, true};
inline constexpr SmallFloat kF16{16, 10, 15, 0x7bff, false};
inline constexpr SmallFloat kBf16{16, 7, 127, 0x7f7f, false};

/// The number that `code` stands for. Codes above the largest finite number are infinity, where the
/// mantissa is zero, and NaN.
[[nodiscard]] double number_of(const SmallFloat& format, std::uint16_t code);

/// The code of the nearest number; of two that are equally near, the even code.
[[nodiscard]] std::uint16_t code_of(const SmallFloat& format, double value);

}  // namespace kiln
