// The time of day as the database and records hold it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

/// Now in UTC, "2026-11-21T08:30:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace kiln
