// What matrix_units computes, one element after the other.
// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdint.h>

// A finite half by its bits: sign, 5 bits of exponent, 10 of fraction.
static double value_of(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
  return half >> 15 != 0 ? -size : size;
}

void multiply(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k) {
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      double sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += value_of(a[(int64_t)row * k + i]) * value_of(b[(int64_t)col * k + i]);
      }
      c[(int64_t)row * n + col] = (float)sum;
    }
  }
}
