// Do two results agree? Moved and counted data must be equal; sums may differ by their rounding.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/peers/device_data.hpp"
#include "bench/peers/workload.hpp"

namespace kiln::peers {

struct Agreement {
  bool agrees = false;
  std::string detail;  ///< "equal", "largest error 3.1e-07 of the largest value (allowed 1.0e-04)"
};

/// `difference`: of Kiln's result from a peer's, both of `workload`.
[[nodiscard]] Agreement judge(const Workload& workload, const Difference& difference);

}  // namespace kiln::peers
