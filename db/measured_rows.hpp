// Rows of schema version 3: measurements other than time. Private to db/, like rows.hpp. A row
// exists only if something is known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::sql {
class Database;
}

namespace kiln {

/// Select the trial's row id and the measurements, for all trials of a session. One statement reads
/// them all, because each statement to a server costs a round trip.
inline constexpr const char* kMetricsOfSession =
    "SELECT trial, name, value FROM metrics JOIN trials ON trials.id = metrics.trial "
    "WHERE session = ? ORDER BY name";
inline constexpr const char* kConditionsOfSession =
    "SELECT trial, memory_clock_khz, temperature_c, power_mw, throttle FROM conditions "
    "JOIN trials ON trials.id = conditions.trial WHERE session = ?";

/// Inserts the metrics and conditions of the trial with this row id.
void insert_measured(sql::Database& database, std::int64_t trial, const Trial& measured);
/// Reads them into the session's trials, whose row ids are set.
void read_measured(sql::Database& database, SessionId session, std::vector<TrialRecord>& trials);

/// Stores the objective of the best with this row id, unless it is "time".
void insert_objective(sql::Database& database, std::int64_t row, const BestRecord& best);
void read_objective(sql::Database& database, std::int64_t row, BestRecord& best);

void insert_drift(sql::Database& database, SessionId session, const DriftRecord& drift);
[[nodiscard]] std::vector<DriftRecord> read_drift(sql::Database& database, SessionId session);

}  // namespace kiln
