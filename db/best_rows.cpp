// The rows of bests; declared in db/rows.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "core/json_line.hpp"
#include "core/json_text.hpp"
#include "core/utc_time.hpp"
#include "db/measured_rows.hpp"
#include "db/rows.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace {

Verdict verdict_named(const std::string& name) {
  constexpr std::array kVerdicts = {Verdict::better, Verdict::tie, Verdict::unmeasurable,
                                    Verdict::none};
  for (const Verdict verdict : kVerdicts) {
    if (name_of(verdict) == name) return verdict;
  }
  throw InputError("unknown name '" + name + "'");
}

/// `at`: the column `session`; those of a best follow.
BestRecord best_from_row(const sql::Statement& row, int at) {
  BestRecord best;
  best.session = row.integer(at);
  best.config = config_from_json(Json::parse(row.text(at + 1)));
  best.template_hash = row.text(at + 2);
  best.time_ns = row.real(at + 3);
  best.default_time_ns = row.real(at + 4);
  if (!row.is_null(at + 5)) best.naive_time_ns = row.real(at + 5);
  best.verdict = verdict_named(row.text(at + 6));
  best.bytes = row.real(at + 7);
  best.flops = row.real(at + 8);
  best.trials = row.integer(at + 9);
  best.failures = row.integer(at + 10);
  best.evidence = row.text(at + 11);
  best.published_at = row.text(at + 12);
  return best;
}

void set_session(BestRecord& best, SessionRecord session) {
  best.key = std::move(session.key);
  best.device_info = std::move(session.device_info);
  best.problem_json = std::move(session.problem_json);
}

// A best whose config gave a wrong result here, from the same spec or the same source, never
// answers, whenever that was.
//
// The columns of a session with no count of its trials, those of a best, those of its objective.
// One statement for all: over a network each one takes a way there and back. The bests of the
// kernel are found first: PostgreSQL guesses that few rows have the objective, and would look up
// the session of every best there is.
constexpr const char* kReadNewest =
    "WITH theirs AS MATERIALIZED (SELECT best.id, kernel, problem, device, timing FROM sessions "
    "JOIN best ON best.session = sessions.id WHERE (?1 = '' OR kernel = ?1) AND NOT EXISTS (SELECT "
    "1 FROM sessions AS here JOIN trials ON trials.session = here.id WHERE here.kernel = "
    "sessions.kernel AND here.problem = sessions.problem AND here.device = sessions.device AND "
    "trials.config = best.config AND trials.outcome = 'wrong_result' AND (here.spec_hash = "
    "sessions.spec_hash OR EXISTS (SELECT 1 FROM trials AS own WHERE own.session = sessions.id AND "
    "own.config = best.config AND own.source_key = trials.source_key)))) SELECT sessions.id, "
    "kernel, spec_hash, problem, problem_json, device, device_info, driver, compiler, "
    "tool_version, strategy, seed, options, budget, space_size, started_at, finished_at, state, "
    "wall_seconds, 0, timing, best.session, config_json, template_hash, time_ns, default_time_ns, "
    "naive_time_ns, verdict, bytes, flops, trials, failures, evidence, published_at, "
    "objectives.name, objectives.value, objectives.default_value FROM best JOIN sessions ON "
    "sessions.id = best.session LEFT JOIN objectives ON objectives.best = best.id WHERE best.id IN "
    "(SELECT max(theirs.id) FROM theirs LEFT JOIN objectives AS wanted ON wanted.best = theirs.id "
    "WHERE coalesce(wanted.name, 'time') = ?2 GROUP BY theirs.kernel, theirs.problem, "
    "theirs.device, theirs.timing) ORDER BY best.id";
constexpr int kBestOfNewest = 21;
constexpr int kObjectiveOfNewest = 34;

BestRecord read_best(sql::Database& database, std::int64_t id) {
  sql::Statement query(
      database,
      "SELECT session, config_json, template_hash, time_ns, default_time_ns, naive_time_ns, "
      "verdict, bytes, flops, trials, failures, evidence, published_at FROM best WHERE id = ?");
  query.bind(1, id);
  (void)query.step();
  BestRecord best = best_from_row(query, 0);
  read_objective(database, id, best);
  set_session(best, read_sessions(database, best.session).at(0));
  return best;
}

}  // namespace

std::vector<BestRecord> read_bests(sql::Database& database, const std::string& kernel,
                                   const std::string& objective) {
  sql::Statement query(database, kReadNewest);
  query.bind_all(kernel, objective);
  std::vector<BestRecord> rows;
  DeviceTexts devices;
  while (query.step()) {
    BestRecord best = best_from_row(query, kBestOfNewest);
    set_session(best, session_from_row(query, devices));
    if (constexpr int at = kObjectiveOfNewest; !query.is_null(at)) {
      best.objective = query.text(at);
      best.value = query.real(at + 1);
      if (!query.is_null(at + 2)) best.default_value = query.real(at + 2);
    }
    rows.push_back(std::move(best));
  }
  return rows;
}

std::optional<BestRecord> read_best_of(sql::Database& database, SessionId session) {
  sql::Statement query(database,
                       "SELECT id, published_at FROM best WHERE session = ? ORDER BY id DESC");
  query.bind(1, session);
  std::optional<BestPlace> last;
  while (query.step()) {
    BestPlace place{query.integer(0), query.text(1)};
    if (!last || is_later(place, *last)) last = std::move(place);
  }
  if (!last) return std::nullopt;
  return read_best(database, last->id);
}

bool is_later(const BestPlace& a, const BestPlace& b) {
  if (a.id > 0 && b.id > 0) return a.id > b.id;
  return std::tie(a.published_at, a.id) > std::tie(b.published_at, b.id);
}

namespace {

constexpr const char* kInsertBest =
    "INSERT INTO best (session, config, config_json, template_hash, time_ns, default_time_ns, "
    "verdict, bytes, flops, trials, failures, evidence, published_at, naive_time_ns) VALUES (?, ?, "
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id";
constexpr const char* kInsertBestAt =
    "INSERT INTO best (session, config, config_json, template_hash, time_ns, default_time_ns, "
    "verdict, bytes, flops, trials, failures, evidence, published_at, naive_time_ns, id) VALUES "
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id";

void bind_best(sql::Statement& insert, SessionId session, const BestRecord& best) {
  insert.bind_all(session, best.config.text(), json_text(to_json(best.config)), best.template_hash,
                  best.time_ns, best.default_time_ns, std::string(name_of(best.verdict)),
                  best.bytes, best.flops, best.trials, best.failures, best.evidence,
                  best.published_at.empty() ? utc_now() : best.published_at);
  if (best.naive_time_ns) {
    insert.bind(14, *best.naive_time_ns);
  } else {
    insert.bind_null(14);
  }
}

}  // namespace

void insert_best(sql::Database& database, SessionId session, const BestRecord& best,
                 std::optional<std::int64_t> id) {
  if (id) {
    sql::Statement insert(database, kInsertBestAt);
    bind_best(insert, session, best);
    insert.bind(15, *id);
    insert_objective(database, insert.run_for_id(), best);
  } else {
    sql::Statement insert(database, kInsertBest);
    bind_best(insert, session, best);
    insert_objective(database, insert.run_for_id(), best);
  }
}

bool is_refused(sql::Database& database, const BestRecord& best) {
  sql::Statement query(
      database,
      "SELECT 1 FROM sessions JOIN trials ON trials.session = sessions.id WHERE kernel = ? AND "
      "problem = ? AND device = ? AND config = ? AND outcome = 'wrong_result'");
  query.bind_all(best.key.kernel, best.key.problem, best.key.device, best.config.text());
  return query.step();
}

void refuse_trial(sql::Database& database, SessionId session, const std::string& config,
                  const Failure& failure) {
  sql::Statement update(
      database,
      "UPDATE trials SET outcome = ?, message = ?, time_ns = 0 WHERE session = ? AND config = ?");
  update.bind_all(std::string(name_of(failure.outcome)), failure.message, session, config);
  update.run();
}

std::string objective_of(sql::Database& database, std::int64_t best) {
  sql::Statement query(database, "SELECT name FROM objectives WHERE best = ?");
  query.bind(1, best);
  return query.step() ? query.text(0) : "time";
}

bool has_best(sql::Database& database, const BestRecord& best) {
  sql::Statement query(
      database,
      "SELECT 1 FROM best JOIN sessions ON sessions.id = best.session WHERE kernel = ? AND problem "
      "= ? AND device = ? AND config = ? AND published_at = ? AND timing = ?");
  query.bind_all(best.key.kernel, best.key.problem, best.key.device, best.config.text(),
                 best.published_at, std::string(name_of(best.key.timing)));
  return query.step();
}

std::optional<std::int64_t> id_behind_newer(sql::Database& database, const BestRecord& best) {
  if (best.published_at.empty()) return std::nullopt;  // it is published now
  sql::Statement query(
      database,
      "SELECT (SELECT CASE WHEN min(id) < 0 THEN min(id) ELSE 0 END - 1 FROM best) WHERE EXISTS "
      "(SELECT 1 FROM best JOIN sessions ON sessions.id = best.session LEFT JOIN objectives ON "
      "objectives.best = best.id WHERE kernel = ?1 AND problem = ?2 AND device = ?3 AND timing = "
      "?4 AND coalesce(objectives.name, 'time') = ?5 AND (published_at > ?6 OR (published_at = ?6 "
      "AND best.time_ns < ?7)))");
  // Of bests without a date, the faster one counts.
  const double slower_than = best.published_at == kUndated ? best.time_ns : 0;
  query.bind_all(best.key.kernel, best.key.problem, best.key.device,
                 std::string(name_of(best.key.timing)), best.objective, best.published_at,
                 slower_than);
  if (!query.step()) return std::nullopt;
  return query.integer(0);
}

}  // namespace kiln
