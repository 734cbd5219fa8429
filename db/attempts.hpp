// Rows of the configs that are on a device, or were on one when their session was killed. Private
// to db/; errors are sql::Error, which Store translates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::sql {
class Database;
}

namespace kiln {

/// Counts one more attempt; inserts the row if there is none.
void count_attempt(sql::Database& database, SessionId session, const std::string& config);
/// Counts one more death of the worker that had the config.
void count_death(sql::Database& database, SessionId session, const std::string& config);
/// The attempt ended: removes the row.
void forget_attempt(sql::Database& database, SessionId session, const std::string& config);
/// Returns the rows in the order of their first attempts.
[[nodiscard]] std::vector<AttemptRecord> read_attempts(sql::Database& database, SessionId session);

}  // namespace kiln
