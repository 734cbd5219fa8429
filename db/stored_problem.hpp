// The problem of a stored row, which a stranger may have written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/value.hpp"
#include "db/store.hpp"

namespace kiln {

/// The fields of a problem as an object. Throws DatabaseError, which names the session, if the
/// column holds no such JSON.
[[nodiscard]] Json stored_problem(const std::string& problem_json, SessionId session);

/// The same as names and values. Also throws DatabaseError for a field that is not a value.
[[nodiscard]] std::vector<std::pair<std::string, Value>> stored_fields(
    const std::string& problem_json, SessionId session);

}  // namespace kiln
