// Rows of schema version 3: what is measured beside time. Private to db/, like rows.hpp.
//
// A file of an older version, opened for reading, has none of these tables: reading finds nothing.
// A row stands only where something is known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace SQLite {
class Database;
}

namespace kiln {

/// Has the file the tables of version 3?
[[nodiscard]] bool has_measured_rows(SQLite::Database& database);

/// Metrics and conditions of the trial with this row id.
void insert_measured(SQLite::Database& database, std::int64_t trial, const Trial& measured);
/// Adds them to the session's trials, whose row ids are set.
void read_measured(SQLite::Database& database, SessionId session, std::vector<TrialRecord>& trials);

/// Row ids of the newest best for `objective` per kernel, problem and device, in order; `kernel`
/// empty: of all.
[[nodiscard]] std::vector<std::int64_t> newest_bests(SQLite::Database& database,
                                                     const std::string& kernel,
                                                     const std::string& objective);
/// The objective of the best with this row id; nothing is stored for "time".
void insert_objective(SQLite::Database& database, std::int64_t row, const BestRecord& best);
void read_objective(SQLite::Database& database, std::int64_t row, BestRecord& best);

void insert_drift(SQLite::Database& database, SessionId session, const DriftRecord& drift);
[[nodiscard]] std::vector<DriftRecord> read_drift(SQLite::Database& database, SessionId session);

}  // namespace kiln
