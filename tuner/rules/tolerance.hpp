// The allowed difference between a result and its reference. docs/checks.md derives the rule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/dtype.hpp"

namespace kiln {

/// |out - reference| <= absolute + relative * |reference|; both zero: equal bit for bit (as
/// numbers: -0 equals 0).
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// Returns the tolerance of an output of type `dtype` whose elements are sums of `sum_length` terms
/// with the typical magnitude `scale` (root mean square of the reference), of inputs that may be
/// rounded by `input_eps` of their size first. Integers: exact.
[[nodiscard]] Tolerance default_tolerance(DType dtype, double sum_length, double scale,
                                          double input_eps = 0);

/// Returns the tolerance for a spec's own `tolerance`: the allowed error relative to the result's
/// magnitude; of whole numbers the allowed difference, rounded down.
[[nodiscard]] Tolerance stated_tolerance(DType dtype, double relative, double scale);

}  // namespace kiln
