// The report: tables for people, JSON for programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/peers/host/row.hpp"

namespace kiln::peers {

/// All tables, and the problems without rows.
[[nodiscard]] std::string report_text(const Report& report);

/// The report with all samples, as one JSON object.
[[nodiscard]] std::string json_text(const Report& report);

/// One row without its samples, as one line of JSON.
[[nodiscard]] std::string json_line(const Row& row);

}  // namespace kiln::peers
