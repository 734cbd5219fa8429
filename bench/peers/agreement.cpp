// The rules of agreement, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/agreement.hpp"

#include <fmt/format.h>

namespace kiln::peers {
namespace {

// Two correct sums of many terms differ by far less; a wrong one by far more.
double allowed_error(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-12;
    case DType::f32:
      return 1e-4;
    case DType::f16:
      return 4e-3;
    case DType::bf16:
      return 3e-2;
    default:
      return 0;
  }
}

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
  const bool sums =
      workload.kernel == "matmul" || (workload.kernel == "reduce" && workload.is("op", "sum"));
  if (sums && is_floating(workload.output_dtype)) {
    const double allowed = allowed_error(workload.output_dtype);
    const double error = difference.largest / difference.magnitude;
    return {
        error <= allowed,
        fmt::format("largest error {:.1e} of the largest value (allowed {:.1e})", error, allowed)};
  }
  return {false,
          fmt::format("{} of {} elements differ", difference.unequal, workload.output_count)};
}

}  // namespace kiln::peers
