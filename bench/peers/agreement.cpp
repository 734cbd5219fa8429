// Holds the largest allowed error of each kernel and element type, and judges a difference by it.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/agreement.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::peers {
namespace {

// Two correct sums of many terms differ by far less; a wrong one by far more.
double allowed_error(std::string_view type) {
  if (type == "f64") return 1e-12;
  if (type == "f32") return 1e-4;
  if (type == "f16" || type == "tf32") return 4e-3;
  if (type == "bf16") return 3e-2;
  if (type == "e4m3") return 0.25;
  if (type == "e5m2") return 0.5;
  return 0;
}

/// The coarser of the result's rounding and that of the arithmetic: f32 operands may be rounded to
/// tf32 or bf16 where the problem says so, and matrix units keep sums of 8-bit floats in fewer bits
/// than f32 has.
double allowed_error(const Workload& workload) {
  const double of_result = allowed_error(name_of(workload.output_dtype));
  if (!workload.product && workload.kernel != "convolution") return of_result;
  if (workload.is("precision", "high")) return std::max(of_result, allowed_error("tf32"));
  if (workload.is("precision", "medium")) return std::max(of_result, allowed_error("bf16"));
  const bool narrow = workload.product && size_of(workload.product->a.dtype) == 1;
  return narrow ? std::max(of_result, allowed_error("tf32")) : of_result;
}

// Of preprocess, relative to the largest value: libraries round to bytes between two calls.
constexpr double kByteRounding = 1.0 / 128;

// Even bins: a sample that lies on the border of two bins may be rounded to either.
constexpr double kAllowedMoves = 1e-5;

}  // namespace

Agreement judge(const Workload& workload, const Difference& difference) {
  if (difference.unequal == 0) return {true, "equal"};
  if (workload.kernel == "histogram" && !workload.is("dtype", "u8")) {
    // A sample in another bin is counted twice: missing here, extra there.
    const double moved = difference.total / 2 / static_cast<double>(workload.problem.integer("n"));
    return {
        moved <= kAllowedMoves,
        fmt::format("{:.1e} of the samples in another bin (allowed {:.1e})", moved, kAllowedMoves)};
  }
  if (workload.kernel == "preprocess") {
    const double allowed = std::max(allowed_error(workload), kByteRounding);
    const double error = difference.largest / difference.magnitude;
    return {
        error <= allowed,
        fmt::format("largest error {:.1e} of the largest value (allowed {:.1e})", error, allowed)};
  }
  const bool sums = workload.kernel == "matmul" || workload.kernel == "convolution" ||
                    (workload.kernel == "reduce" && workload.is("op", "sum"));
  if (sums && is_floating(workload.output_dtype)) {
    const double allowed = allowed_error(workload);
    const double error = difference.largest / difference.magnitude;
    return {
        error <= allowed,
        fmt::format("largest error {:.1e} of the largest value (allowed {:.1e})", error, allowed)};
  }
  return {false,
          fmt::format("{} of {} elements differ", difference.unequal, workload.output_count)};
}

}  // namespace kiln::peers
