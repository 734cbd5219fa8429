// Do two results agree? Moved and counted data must be equal; sums may differ by their rounding.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/peers/device_data.hpp"
#include "bench/peers/host/row.hpp"
#include "bench/peers/workload.hpp"

namespace kiln::peers {

/// `difference`: of Kiln's result from a peer's, both of `workload`.
[[nodiscard]] Agreement judge(const Workload& workload, const Difference& difference);

}  // namespace kiln::peers
