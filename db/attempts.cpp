// SPDX-License-Identifier: Apache-2.0
#include "db/attempts.hpp"

#include "db/sql.hpp"

namespace kiln {

void count_attempt(sql::Database& database, SessionId session, const std::string& config) {
  sql::Statement upsert(database,
                        "INSERT INTO attempts (session, config, begun, deaths) VALUES (?, ?, 1, 0) "
                        "ON CONFLICT (session, config) DO UPDATE SET begun = attempts.begun + 1");
  upsert.bind_all(session, config);
  upsert.run();
}

void count_death(sql::Database& database, SessionId session, const std::string& config) {
  sql::Statement update(database,
                        "UPDATE attempts SET deaths = deaths + 1 WHERE session = ? AND config = ?");
  update.bind_all(session, config);
  update.run();
}

void forget_attempt(sql::Database& database, SessionId session, const std::string& config) {
  sql::Statement remove(database, "DELETE FROM attempts WHERE session = ? AND config = ?");
  remove.bind_all(session, config);
  remove.run();
}

std::vector<AttemptRecord> read_attempts(sql::Database& database, SessionId session) {
  sql::Statement query(database,
                       "SELECT config, begun, deaths FROM attempts WHERE session = ? ORDER BY id");
  query.bind(1, session);
  std::vector<AttemptRecord> attempts;
  while (query.step()) {
    attempts.push_back({query.text(0), query.integer(1), query.integer(2)});
  }
  return attempts;
}

}  // namespace kiln
