// SPDX-License-Identifier: Apache-2.0
#include "db/rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "db/json_line.hpp"
#include "db/measured_rows.hpp"

namespace kiln {
namespace {

static_assert(std::endian::native == std::endian::little, "sample blobs are little-endian");

constexpr const char* kReadSessions =
    "SELECT id, kernel, spec_hash, problem, problem_json, device, device_info, driver, compiler, "
    "tool_version, strategy, "
    "seed, options, budget, space_size, started_at, finished_at, state, wall_seconds, "
    "(SELECT count(*) FROM trials WHERE trials.session = sessions.id) "
    "FROM sessions WHERE id BETWEEN ? AND ? ORDER BY id";

template <typename Enum, std::size_t Size>
Enum parse_name(const std::string& text, const std::array<Enum, Size>& all) {
  for (const Enum value : all) {
    if (name_of(value) == text) {
      return value;
    }
  }
  throw InputError("unknown name '" + text + "'");
}

constexpr std::array kStates = {SessionState::running, SessionState::finished,
                                SessionState::interrupted};
constexpr std::array kVerdicts = {Verdict::better, Verdict::tie, Verdict::unmeasurable,
                                  Verdict::none};

SessionRecord session_from_row(SQLite::Statement& row) {
  SessionRecord record;
  record.id = row.getColumn(0).getInt64();
  record.key = {.kernel = row.getColumn(1).getString(),
                .spec_hash = row.getColumn(2).getString(),
                .problem = row.getColumn(3).getString(),
                .device = row.getColumn(5).getString(),
                .driver = row.getColumn(7).getString(),
                .compiler = row.getColumn(8).getString(),
                .tool_version = row.getColumn(9).getString(),
                .strategy = row.getColumn(10).getString(),
                .seed = std::strtoull(row.getColumn(11).getText(), nullptr, 10),
                .options = row.getColumn(12).getString()};
  record.problem_json = row.getColumn(4).getString();
  record.device_info = device_from_json(Json::parse(row.getColumn(6).getString()));
  record.key.device = current_identity(record.key.device, record.device_info);
  record.budget = row.getColumn(13).getString();
  record.space_size = row.getColumn(14).getInt64();
  record.started_at = row.getColumn(15).getString();
  record.finished_at = row.getColumn(16).isNull() ? "" : row.getColumn(16).getString();
  record.state = parse_name(row.getColumn(17).getString(), kStates);
  record.wall_seconds = row.getColumn(18).getDouble();
  record.trial_count = row.getColumn(19).getInt64();
  return record;
}

// Throws InputError for what no measurement writes: sorting and medians need numbers.
std::vector<double> doubles_from_blob(const SQLite::Column& column) {
  if (static_cast<std::size_t>(column.getBytes()) % sizeof(double) != 0) {
    throw InputError("samples that are no list of numbers");
  }
  std::vector<double> values(static_cast<std::size_t>(column.getBytes()) / sizeof(double));
  if (!values.empty()) {
    std::memcpy(values.data(), column.getBlob(), values.size() * sizeof(double));
  }
  if (!std::all_of(values.begin(), values.end(), [](double ns) { return std::isfinite(ns); })) {
    throw InputError("a sample that is no number");
  }
  return values;
}

Trial trial_from_row(SQLite::Statement& row) {
  Trial trial;
  trial.config = config_from_json(Json::parse(row.getColumn(2).getString()));
  const std::optional<Outcome> outcome = parse_outcome(row.getColumn(3).getString());
  if (!outcome) {
    throw InputError("unknown outcome '" + row.getColumn(3).getString() + "'");
  }
  trial.outcome = *outcome;
  trial.message = row.getColumn(4).getString();
  trial.time_ns = row.getColumn(5).getDouble();
  trial.max_error = row.getColumn(6).getDouble();
  trial.registers = row.getColumn(7).getInt64();
  trial.spill_bytes = row.getColumn(8).getInt64();
  trial.shared_bytes = row.getColumn(9).getInt64();
  trial.source_key = row.getColumn(10).getString();
  trial.cost = {.render_ns = row.getColumn(11).getInt64(),
                .compile_ns = row.getColumn(12).getInt64(),
                .verify_ns = row.getColumn(13).getInt64(),
                .measure_ns = row.getColumn(14).getInt64()};
  if (!row.getColumn(15).isNull()) {
    trial.samples = {.ns = doubles_from_blob(row.getColumn(15)),
                     .cold_cache = row.getColumn(16).getInt() != 0,
                     .batch = row.getColumn(17).getInt64(),
                     .clock_khz_before = row.getColumn(18).getInt64(),
                     .clock_khz_after = row.getColumn(19).getInt64(),
                     .throttled = row.getColumn(20).getInt() != 0,
                     .dropped_early = row.getColumn(21).getInt() != 0};
  }
  return trial;
}

BestRecord best_from_row(SQLite::Statement& row) {
  BestRecord best;
  best.session = row.getColumn(0).getInt64();
  best.config = config_from_json(Json::parse(row.getColumn(1).getString()));
  best.template_hash = row.getColumn(2).getString();
  best.time_ns = row.getColumn(3).getDouble();
  best.default_time_ns = row.getColumn(4).getDouble();
  if (!row.getColumn(5).isNull()) {
    best.naive_time_ns = row.getColumn(5).getDouble();
  }
  best.verdict = parse_name(row.getColumn(6).getString(), kVerdicts);
  best.bytes = row.getColumn(7).getDouble();
  best.flops = row.getColumn(8).getDouble();
  best.trials = row.getColumn(9).getInt64();
  best.failures = row.getColumn(10).getInt64();
  best.evidence = row.getColumn(11).getString();
  best.published_at = row.getColumn(12).getString();
  return best;
}

// Device names come from drivers: bytes that are no UTF-8 are replaced, never an error.
// SQLite stores NaN as NULL, which the columns refuse.
double number_or(double value, double instead_of_nan) {
  return std::isnan(value) ? instead_of_nan : value;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::optional<SessionRecord> find_session(SQLite::Database& database, const SessionKey& key,
                                          Completion completion) {
  SQLite::Statement query(
      database,
      "SELECT id FROM sessions WHERE kernel = ? AND spec_hash = ? AND problem = ? AND device = ? "
      "AND driver = ? AND compiler = ? AND tool_version = ? AND strategy = ? AND seed = ? "
      "AND options = ? AND (state = 'finished') = ? ORDER BY id DESC LIMIT 1");
  int slot = 0;
  for (const std::string* text : {&key.kernel, &key.spec_hash, &key.problem, &key.device,
                                  &key.driver, &key.compiler, &key.tool_version, &key.strategy}) {
    query.bind(++slot, *text);
  }
  query.bind(++slot, std::to_string(key.seed));
  query.bind(++slot, key.options);
  query.bind(++slot, completion == Completion::finished ? 1 : 0);
  if (!query.executeStep()) {
    return std::nullopt;
  }
  return read_sessions(database, query.getColumn(0).getInt64()).at(0);
}

std::vector<SessionRecord> read_sessions(SQLite::Database& database, std::optional<SessionId> id) {
  SQLite::Statement query(database, kReadSessions);
  SQLite::bind(query, id.value_or(0), id.value_or(std::numeric_limits<SessionId>::max()));
  std::vector<SessionRecord> rows;
  while (query.executeStep()) {
    rows.push_back(session_from_row(query));
  }
  return rows;
}

std::vector<TrialRecord> read_trials(SQLite::Database& database, SessionId session) {
  SQLite::Statement query(database,
                          "SELECT id, sequence, config_json, outcome, message, time_ns, max_error, "
                          "registers, spill_bytes, shared_bytes, "
                          "source_key, render_ns, compile_ns, verify_ns, measure_ns, ns, "
                          "cold_cache, batch, clock_khz_before, "
                          "clock_khz_after, throttled, dropped_early FROM trials LEFT JOIN samples "
                          "ON samples.trial = trials.id "
                          "WHERE session = ? ORDER BY sequence");
  query.bind(1, session);
  std::vector<TrialRecord> rows;
  while (query.executeStep()) {
    rows.push_back({.id = query.getColumn(0).getInt64(),
                    .sequence = query.getColumn(1).getInt64(),
                    .trial = trial_from_row(query)});
  }
  read_measured(database, session, rows);
  return rows;
}

namespace {

BestRecord read_best(SQLite::Database& database, std::int64_t id) {
  SQLite::Statement query(database,
                          "SELECT session, config_json, template_hash, time_ns, "
                          "default_time_ns, naive_time_ns, verdict, bytes, flops, trials, "
                          "failures, evidence, published_at FROM best WHERE id = ?");
  query.bind(1, id);
  query.executeStep();
  BestRecord best = best_from_row(query);
  read_objective(database, id, best);
  SessionRecord session = read_sessions(database, best.session).at(0);
  best.key = std::move(session.key);
  best.device_info = std::move(session.device_info);
  best.problem_json = std::move(session.problem_json);
  return best;
}

}  // namespace

std::vector<BestRecord> read_bests(SQLite::Database& database, const std::string& kernel,
                                   const std::string& objective) {
  std::vector<BestRecord> rows;
  for (const std::int64_t id : newest_bests(database, kernel, objective)) {
    rows.push_back(read_best(database, id));
  }
  return rows;
}

std::optional<BestRecord> read_best_of(SQLite::Database& database, SessionId session) {
  SQLite::Statement query(database, "SELECT max(id) FROM best WHERE session = ?");
  query.bind(1, session);
  if (!query.executeStep() || query.getColumn(0).isNull()) return std::nullopt;
  return read_best(database, query.getColumn(0).getInt64());
}

SessionId insert_session(SQLite::Database& database, const SessionRecord& record) {
  SQLite::Statement insert(
      database,
      "INSERT INTO sessions (kernel, spec_hash, problem, problem_json, device, device_info, "
      "driver, compiler, "
      "tool_version, strategy, seed, options, budget, space_size, started_at, state) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running')");
  const std::string device_info = json_text(to_json(record.device_info));
  const std::string seed = std::to_string(record.key.seed);
  const std::string started = record.started_at.empty() ? utc_now() : record.started_at;
  int slot = 0;
  for (const std::string* text :
       {&record.key.kernel, &record.key.spec_hash, &record.key.problem, &record.problem_json,
        &record.key.device, &device_info, &record.key.driver, &record.key.compiler,
        &record.key.tool_version, &record.key.strategy, &seed, &record.key.options,
        &record.budget}) {
    insert.bind(++slot, *text);
  }
  insert.bind(++slot, record.space_size);
  insert.bind(++slot, started);
  insert.exec();
  return database.getLastInsertRowid();
}

void insert_trial(SQLite::Database& database, SessionId session, std::int64_t sequence,
                  const Trial& trial) {
  SQLite::Statement insert(
      database,
      "INSERT INTO trials (session, sequence, config, config_json, outcome, message, time_ns, "
      "max_error, "
      "registers, spill_bytes, shared_bytes, source_key, render_ns, compile_ns, verify_ns, "
      "measure_ns, "
      "recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  SQLite::bind(insert, session, sequence, trial.config.text(), json_text(to_json(trial.config)),
               std::string(name_of(trial.outcome)), trial.message, number_or(trial.time_ns, 0),
               number_or(trial.max_error, std::numeric_limits<double>::infinity()), trial.registers,
               trial.spill_bytes, trial.shared_bytes, trial.source_key, trial.cost.render_ns,
               trial.cost.compile_ns, trial.cost.verify_ns, trial.cost.measure_ns, utc_now());
  insert.exec();
  const std::int64_t id = database.getLastInsertRowid();
  insert_measured(database, id, trial);
  if (trial.samples.ns.empty()) {
    return;
  }
  SQLite::Statement samples(database,
                            "INSERT INTO samples (trial, cold_cache, batch, clock_khz_before, "
                            "clock_khz_after, throttled, "
                            "dropped_early, ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  SQLite::bind(samples, id, static_cast<int>(trial.samples.cold_cache), trial.samples.batch,
               trial.samples.clock_khz_before, trial.samples.clock_khz_after,
               static_cast<int>(trial.samples.throttled),
               static_cast<int>(trial.samples.dropped_early));
  samples.bind(8, trial.samples.ns.data(),
               static_cast<int>(trial.samples.ns.size() * sizeof(double)));
  samples.exec();
}

void update_session(SQLite::Database& database, SessionId session, SessionState state,
                    double wall_seconds) {
  SQLite::Statement update(database,
                           "UPDATE sessions SET state = ?, wall_seconds = wall_seconds + ?, "
                           "finished_at = ? WHERE id = ?");
  SQLite::bind(update, std::string(name_of(state)), wall_seconds, utc_now(), session);
  update.exec();
}

void count_seconds(SQLite::Database& database, SessionId session, double more_wall_seconds) {
  SQLite::Statement update(database,
                           "UPDATE sessions SET wall_seconds = wall_seconds + ? WHERE id = ?");
  SQLite::bind(update, more_wall_seconds, session);
  update.exec();
}

void insert_best(SQLite::Database& database, SessionId session, const BestRecord& best,
                 std::optional<std::int64_t> id) {
  SQLite::Statement insert(database,
                           "INSERT INTO best (session, config, config_json, template_hash, "
                           "time_ns, default_time_ns, verdict, "
                           "bytes, flops, trials, failures, evidence, published_at, "
                           "naive_time_ns, id) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  SQLite::bind(insert, session, best.config.text(), json_text(to_json(best.config)),
               best.template_hash, best.time_ns, best.default_time_ns,
               std::string(name_of(best.verdict)), best.bytes, best.flops, best.trials,
               best.failures, best.evidence,
               best.published_at.empty() ? utc_now() : best.published_at);
  if (best.naive_time_ns) {
    insert.bind(14, *best.naive_time_ns);
  }
  if (id) insert.bind(15, *id);  // else the next one
  insert.exec();
  insert_objective(database, database.getLastInsertRowid(), best);
}

bool has_best(SQLite::Database& database, const BestRecord& best) {
  SQLite::Statement query(database,
                          "SELECT 1 FROM best JOIN sessions ON sessions.id = best.session WHERE "
                          "kernel = ? AND problem = ? AND device = ? AND config = ? AND "
                          "published_at = ?");
  SQLite::bind(query, best.key.kernel, best.key.problem, best.key.device, best.config.text(),
               best.published_at);
  return query.executeStep();
}

namespace {

/// The row id that puts a best of another database behind one that was published later; none where
/// it is the newest.
std::optional<std::int64_t> id_behind_newer(SQLite::Database& database, const BestRecord& best) {
  if (best.published_at.empty()) return std::nullopt;  // it is published now
  SQLite::Statement query(database,
                          "SELECT min(0, (SELECT min(id) FROM best)) - 1 WHERE EXISTS (SELECT 1 "
                          "FROM best JOIN sessions ON sessions.id = best.session WHERE kernel = ? "
                          "AND problem = ? AND device = ? AND published_at > ?)");
  SQLite::bind(query, best.key.kernel, best.key.problem, best.key.device, best.published_at);
  if (!query.executeStep()) return std::nullopt;
  return query.getColumn(0).getInt64();
}

}  // namespace

void insert_finished(SQLite::Database& database, const FinishedSession& session) {
  const SessionId id = insert_session(database, session.record);
  SQLite::Statement update(
      database, "UPDATE sessions SET state = ?, finished_at = ?, wall_seconds = ? WHERE id = ?");
  SQLite::bind(update, std::string(name_of(session.record.state)), session.record.finished_at,
               session.record.wall_seconds, id);
  update.exec();
  std::int64_t sequence = 0;
  for (const Trial& trial : session.trials) insert_trial(database, id, ++sequence, trial);
  if (session.best)
    insert_best(database, id, *session.best, id_behind_newer(database, *session.best));
}

std::vector<std::string> check_rows(SQLite::Database& database) {
  std::vector<std::string> findings;
  SQLite::Statement integrity(database, "PRAGMA integrity_check");
  while (integrity.executeStep()) {
    if (const std::string line = integrity.getColumn(0).getString(); line != "ok") {
      findings.push_back("SQLite: " + line);
    }
  }
  SQLite::Statement foreign(database, "PRAGMA foreign_key_check");
  while (foreign.executeStep()) {
    findings.push_back("row " + foreign.getColumn(1).getString() + " of table " +
                       foreign.getColumn(0).getString() + " refers to a missing row of " +
                       foreign.getColumn(2).getString());
  }
  SQLite::Statement gaps(database,
                         "SELECT session, count(*), max(sequence) FROM trials GROUP BY session "
                         "HAVING count(*) <> max(sequence)");
  while (gaps.executeStep()) {
    findings.push_back("session " + gaps.getColumn(0).getString() + " has " +
                       gaps.getColumn(1).getString() + " trials but its last sequence number is " +
                       gaps.getColumn(2).getString());
  }
  SQLite::Statement lone(database,
                         "SELECT sessions.id FROM sessions JOIN best ON best.session = sessions.id "
                         "WHERE NOT EXISTS (SELECT 1 FROM "
                         "trials WHERE trials.session = sessions.id AND trials.config = "
                         "best.config AND outcome = 'ok')");
  while (lone.executeStep()) {
    findings.push_back("session " + lone.getColumn(0).getString() +
                       " publishes a best that none of its trials proved");
  }
  return findings;
}

}  // namespace kiln
