// Computes the tolerance of an output from its element type, the length of its sums and its scale.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/rules/tolerance.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

// Rounding of the final store, on both sides.
constexpr double kStoreRoundings = 2;
// A handful of roundings per term (a product, a transcendental function good to 4 ulp, a fused or
// split multiply-add).
constexpr double kTermRoundings = 8;
// Errors of a sum in any order walk at random: about eps * sqrt(n) / 4 of the result, times a
// margin of 16.
constexpr double kSumRoundings = 4;

// Two operands of a product, each cut (not rounded) to fewer bits, and a margin of 2.
constexpr double kInputRoundings = 4;

/// Floating-point types below f32 are computed in f32 and rounded once, when stored.
double arithmetic_epsilon(DType dtype) {
  return std::min(epsilon_of(dtype), epsilon_of(DType::f32));
}

}  // namespace

Tolerance default_tolerance(DType dtype, double sum_length, double scale, double input_eps) {
  const double terms = std::sqrt(std::max(1.0, sum_length));
  const double relative = kStoreRoundings * epsilon_of(dtype) + kInputRoundings * input_eps +
                          arithmetic_epsilon(dtype) * (kTermRoundings + kSumRoundings * terms);
  return stated_tolerance(dtype, relative, scale);
}

Tolerance stated_tolerance(DType dtype, double relative, double scale) {
  if (!is_floating(dtype)) return {0, std::floor(relative)};
  return {relative, relative * scale};
}

}  // namespace kiln
