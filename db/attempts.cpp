// SPDX-License-Identifier: Apache-2.0
#include "db/attempts.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

namespace kiln {

void count_attempt(SQLite::Database& database, SessionId session, const std::string& config) {
  SQLite::Statement upsert(database,
                           "INSERT INTO attempts (session, config, begun, deaths) "
                           "VALUES (?, ?, 1, 0) "
                           "ON CONFLICT (session, config) DO UPDATE SET begun = begun + 1");
  SQLite::bind(upsert, session, config);
  upsert.exec();
}

void count_death(SQLite::Database& database, SessionId session, const std::string& config) {
  SQLite::Statement update(
      database, "UPDATE attempts SET deaths = deaths + 1 WHERE session = ? AND config = ?");
  SQLite::bind(update, session, config);
  update.exec();
}

void forget_attempt(SQLite::Database& database, SessionId session, const std::string& config) {
  SQLite::Statement remove(database, "DELETE FROM attempts WHERE session = ? AND config = ?");
  SQLite::bind(remove, session, config);
  remove.exec();
}

std::vector<AttemptRecord> read_attempts(SQLite::Database& database, SessionId session) {
  SQLite::Statement query(
      database, "SELECT config, begun, deaths FROM attempts WHERE session = ? ORDER BY id");
  query.bind(1, session);
  std::vector<AttemptRecord> attempts;
  while (query.executeStep()) {
    attempts.push_back({query.getColumn(0).getString(), query.getColumn(1).getInt64(),
                        query.getColumn(2).getInt64()});
  }
  return attempts;
}

}  // namespace kiln
