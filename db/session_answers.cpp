// SPDX-License-Identifier: Apache-2.0
#include "db/session_answers.hpp"

#include <array>

#include <SQLiteCpp/SQLiteCpp.h>

namespace kiln {
namespace {

Verdict verdict_from(const std::string& name) {
  constexpr std::array kAll = {Verdict::better, Verdict::tie, Verdict::unmeasurable};
  for (const Verdict verdict : kAll) {
    if (name_of(verdict) == name) return verdict;
  }
  return Verdict::none;
}

/// The newest best of each session.
constexpr const char* kPublished =
    "SELECT session, time_ns, default_time_ns, verdict FROM best "
    "WHERE id IN (SELECT max(id) FROM best GROUP BY session)";

/// The fastest trial, and the first one, which is the default config, of each session without best.
constexpr const char* kSoFar =
    "SELECT session, min(time_ns), coalesce(max(CASE WHEN sequence = 1 THEN time_ns END), 0) "
    "FROM trials WHERE outcome = 'ok' AND session NOT IN (SELECT session FROM best) "
    "GROUP BY session";

}  // namespace

std::map<SessionId, SessionAnswer> read_session_answers(SQLite::Database& database) {
  std::map<SessionId, SessionAnswer> answers;
  SQLite::Statement published(database, kPublished);
  while (published.executeStep()) {
    answers[published.getColumn(0).getInt64()] = {
        .time_ns = published.getColumn(1).getDouble(),
        .default_time_ns = published.getColumn(2).getDouble(),
        .verdict = verdict_from(published.getColumn(3).getString()),
        .is_published = true};
  }
  SQLite::Statement so_far(database, kSoFar);
  while (so_far.executeStep()) {
    answers[so_far.getColumn(0).getInt64()] = {.time_ns = so_far.getColumn(1).getDouble(),
                                               .default_time_ns = so_far.getColumn(2).getDouble()};
  }
  return answers;
}

}  // namespace kiln
