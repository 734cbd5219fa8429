// Rows and statements: converts records to columns and back. Private to db/; errors are SQLite's
// and the JSON library's own, which Store translates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace SQLite {
class Database;
}

namespace kiln {

enum class Completion { finished, unfinished };
/// The newest session with this key.
[[nodiscard]] std::optional<SessionRecord> find_session(SQLite::Database& database,
                                                        const SessionKey& key,
                                                        Completion completion);
[[nodiscard]] std::vector<SessionRecord> read_sessions(SQLite::Database& database,
                                                       std::optional<SessionId> id);
[[nodiscard]] std::vector<TrialRecord> read_trials(SQLite::Database& database, SessionId session);
[[nodiscard]] std::vector<BestRecord> read_bests(SQLite::Database& database,
                                                 const std::string& kernel,
                                                 const std::string& objective);

/// The newest best of the session.
[[nodiscard]] std::optional<BestRecord> read_best_of(SQLite::Database& database, SessionId session);

SessionId insert_session(SQLite::Database& database, const SessionRecord& record);
void insert_trial(SQLite::Database& database, SessionId session, std::int64_t sequence,
                  const Trial& trial);
void update_session(SQLite::Database& database, SessionId session, SessionState state,
                    double wall_seconds);
void count_seconds(SQLite::Database& database, SessionId session, double more_wall_seconds);
/// `id`: the row id, which orders bests by age; nullopt: the newest.
void insert_best(SQLite::Database& database, SessionId session, const BestRecord& best,
                 std::optional<std::int64_t> id = std::nullopt);

/// Returns whether there is a best of this kernel, problem, device and config with the same time of
/// publication.
[[nodiscard]] bool has_best(SQLite::Database& database, const BestRecord& best);
/// Inserts the session with its state and times unchanged, its trials and its best.
void insert_finished(SQLite::Database& database, const FinishedSession& session);

/// Findings of the integrity check, each a sentence.
[[nodiscard]] std::vector<std::string> check_rows(SQLite::Database& database);

/// Now in UTC, "2026-11-21T08:30:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace kiln
