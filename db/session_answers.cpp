// SPDX-License-Identifier: Apache-2.0
#include "db/session_answers.hpp"

#include <array>

#include "db/rows.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace {

Verdict verdict_from(const std::string& name) {
  constexpr std::array kAll = {Verdict::better, Verdict::tie, Verdict::unmeasurable};
  for (const Verdict verdict : kAll) {
    if (name_of(verdict) == name) return verdict;
  }
  return Verdict::none;
}

constexpr const char* kPublished =
    "SELECT session, time_ns, default_time_ns, verdict, id, published_at FROM best ORDER BY id "
    "DESC";

/// The fastest trial, and the first one, which is the default config, of each session without best.
constexpr const char* kSoFar =
    "SELECT session, min(time_ns), coalesce(max(CASE WHEN sequence = 1 THEN time_ns END), 0) FROM "
    "trials WHERE outcome = 'ok' AND session NOT IN (SELECT session FROM best) GROUP BY session";

}  // namespace

std::map<SessionId, SessionAnswer> read_session_answers(sql::Database& database) {
  std::map<SessionId, SessionAnswer> answers;
  std::map<SessionId, BestPlace> last;
  sql::Statement published(database, kPublished);
  while (published.step()) {
    const BestPlace place{published.integer(4), published.text(5)};
    const auto [known, is_new] = last.emplace(published.integer(0), place);
    if (!is_new && !is_later(place, known->second)) continue;
    known->second = place;
    answers[published.integer(0)] = {.time_ns = published.real(1),
                                     .default_time_ns = published.real(2),
                                     .verdict = verdict_from(published.text(3)),
                                     .is_published = true};
  }
  sql::Statement so_far(database, kSoFar);
  while (so_far.step()) {
    answers[so_far.integer(0)] = {.time_ns = so_far.real(1), .default_time_ns = so_far.real(2)};
  }
  return answers;
}

}  // namespace kiln
