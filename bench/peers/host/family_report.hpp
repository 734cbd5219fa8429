// The part of the report about libraries that offer several ways: their first and their fastest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/peers/host/row.hpp"

namespace kiln::peers {

/// One line for each problem, family and cache mode; empty where no row is of a family.
[[nodiscard]] std::string family_table(const std::vector<Row>& rows);

/// For each cache mode the geometric means of the speed-ups over the problems, and the lowest.
/// Where a problem has several families, the first way of the first and the fastest of all count.
[[nodiscard]] std::string family_summary(const std::vector<Row>& rows);

}  // namespace kiln::peers
