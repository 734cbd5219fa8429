// The median and quantiles of measured numbers: one definition for rules, tables and reports.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace kiln {

/// Median of `values` (mean of the middle two); 0 when empty.
[[nodiscard]] double median(std::vector<double> values);

/// The smallest of `values` that at least `share` of them, from 0 to 1, do not exceed (the nearest
/// rank: of few values the 95th percentile is the largest); 0 when empty.
[[nodiscard]] double quantile(std::vector<double> values, double share);

}  // namespace kiln
