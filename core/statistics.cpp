// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kiln {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const double rank = std::clamp(std::ceil(share * static_cast<double>(values.size())), 1.0,
                                 static_cast<double>(values.size()));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace kiln
