// How far a result may be from its reference. docs/measurement.md derives the rule.
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

/// For an output of type `dtype`, each element a sum of `sum_length` terms, of typical magnitude
/// `scale` (root mean square of the reference). Integers: exact.
[[nodiscard]] Tolerance default_tolerance(DType dtype, double sum_length, double scale);

/// For a spec's own `tolerance`: allowed error relative to the result's magnitude.
[[nodiscard]] Tolerance stated_tolerance(DType dtype, double relative, double scale);

}  // namespace kiln
