// Rows of configs that are on a device, or were when their session ended without a word. Private to
// db/; errors are SQLite's own, which Store translates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"

namespace SQLite {
class Database;
}

namespace kiln {

/// Counts one more beginning; makes the row when there is none.
void count_attempt(SQLite::Database& database, SessionId session, const std::string& config);
/// Counts one more death of the worker that had the config.
void count_death(SQLite::Database& database, SessionId session, const std::string& config);
/// The config came to an end: nothing is to be remembered.
void forget_attempt(SQLite::Database& database, SessionId session, const std::string& config);
/// In the order in which they were begun first.
[[nodiscard]] std::vector<AttemptRecord> read_attempts(SQLite::Database& database,
                                                       SessionId session);

}  // namespace kiln
