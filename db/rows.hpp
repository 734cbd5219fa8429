// Rows and statements: converts records to columns and back. Private to db/; errors are
// sql::Error and the JSON library's own, which Store translates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::sql {
class Database;
class Statement;
}  // namespace kiln::sql

namespace kiln {

enum class Completion { finished, unfinished };
/// The newest session with this key.
[[nodiscard]] std::optional<SessionRecord> find_session(sql::Database& database,
                                                        const SessionKey& key,
                                                        Completion completion);
/// Reads the column `device_info`. Most rows of a database have the same text: each is parsed once.
class DeviceTexts {
 public:
  [[nodiscard]] const DeviceInfo& parsed(const std::string& text);

 private:
  std::map<std::string, DeviceInfo> parsed_;
};

/// Throws InputError for a name that no timing has.
[[nodiscard]] Timing stored_timing(const std::string& name);

/// The session of a row whose columns are those of read_sessions().
[[nodiscard]] SessionRecord session_from_row(const sql::Statement& row, DeviceTexts& devices);
[[nodiscard]] std::vector<SessionRecord> read_sessions(sql::Database& database,
                                                       std::optional<SessionId> id);
/// The sessions of this kernel that have not finished.
[[nodiscard]] std::vector<SessionRecord> read_unfinished(sql::Database& database,
                                                         const std::string& kernel);
[[nodiscard]] std::vector<TrialRecord> read_trials(sql::Database& database, SessionId session);
[[nodiscard]] std::vector<BestRecord> read_bests(sql::Database& database, const std::string& kernel,
                                                 const std::string& objective);

/// Where a best stands among others. A row that was added behind newer ones has an id below 0.
struct BestPlace {
  std::int64_t id = 0;
  std::string published_at;
};

/// Returns whether the best at `a` counts before the one at `b`, of one session. Rows that were
/// stored as they were published go by that order, whatever the clock said.
[[nodiscard]] bool is_later(const BestPlace& a, const BestPlace& b);

/// The name of the objective of the best with this row id.
[[nodiscard]] std::string objective_of(sql::Database& database, std::int64_t best);

/// The newest best of the session.
[[nodiscard]] std::optional<BestRecord> read_best_of(sql::Database& database, SessionId session);

SessionId insert_session(sql::Database& database, const SessionRecord& record);
void insert_trial(sql::Database& database, SessionId session, std::int64_t sequence,
                  const Trial& trial);
void update_session(sql::Database& database, SessionId session, SessionState state,
                    double wall_seconds);
void count_seconds(sql::Database& database, SessionId session, double more_wall_seconds);
/// `id`: the row id, which orders bests by age; nullopt: the newest.
void insert_best(sql::Database& database, SessionId session, const BestRecord& best,
                 std::optional<std::int64_t> id = std::nullopt);

/// Returns whether the best's config gave a wrong result for its problem on its device.
[[nodiscard]] bool is_refused(sql::Database& database, const BestRecord& best);
/// Turns the trial of the config into one that failed.
void refuse_trial(sql::Database& database, SessionId session, const std::string& config,
                  const Failure& failure);

/// Returns whether there is a best of this kernel, problem, device and config with the same time of
/// publication.
[[nodiscard]] bool has_best(sql::Database& database, const BestRecord& best);
/// Returns a row id for a best of another database that sorts it before bests published later.
/// nullopt if it is the newest of its kernel, problem, device, timing and objective.
[[nodiscard]] std::optional<std::int64_t> id_behind_newer(sql::Database& database,
                                                          const BestRecord& best);
/// Inserts the session with its state and times unchanged, its trials and its best.
void insert_finished(sql::Database& database, const FinishedSession& session);

/// Findings of the integrity check, each a sentence.
[[nodiscard]] std::vector<std::string> check_rows(sql::Database& database);

}  // namespace kiln
