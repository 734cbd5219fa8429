// Where a search spent its time (db/time_use.hpp), in words. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/time_use.hpp"

namespace kiln {

/// Returns text for people: one line for each of device, compilers, supervisor and GPU.
[[nodiscard]] std::vector<std::string> lines_of(const TimeUse& use);

}  // namespace kiln
