// SPDX-License-Identifier: Apache-2.0
#include "db/rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/field_json.hpp"
#include "core/json.hpp"
#include "core/json_line.hpp"
#include "core/json_text.hpp"
#include "core/trial.hpp"
#include "core/utc_time.hpp"
#include "db/measured_rows.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace {

// The column `fields` of the table `trials`: the fields of a trial that have no column of their
// own, as a JSON object by name. Fields from before schema version 5 have columns. Every later
// field of Trial, Samples and TrialCost (core/trial.hpp) is stored here and needs no change in db/.
// A name means the same for ever; a field at its default value is left out, so most rows hold "{}".

// By table. Nothing is ever added: a new field has no column.
constexpr auto kFieldsWithColumn = std::to_array<std::string_view>(
    {"config", "outcome", "message", "time_ns", "max_error", "registers", "spill_bytes",
     "shared_bytes", "source_key", "render_ns", "compile_ns", "verify_ns", "measure_ns",
     // samples
     "ns", "cold_cache", "batch", "clock_khz_before", "clock_khz_after", "throttled",
     "dropped_early",
     // conditions
     "memory_clock_khz", "temperature_c", "power_mw", "throttle",
     // A table of its own.
     "metrics"});

bool has_column(std::string_view name) {
  return std::find(kFieldsWithColumn.begin(), kFieldsWithColumn.end(), name) !=
         kFieldsWithColumn.end();
}

/// Calls `visit(name, field)` for each field without a column, those of nested structs included.
template <typename T, typename Visit>
void visit_without_column(T& value, const Visit& visit) {
  visit_fields(value, [&](const char* name, auto& field) {
    if constexpr (HasFields<std::remove_reference_t<decltype(field)>>) {
      visit_without_column(field, visit);
    } else if (!has_column(name)) {
      visit(name, field);
    }
  });
}

Json fields_without_column(const Trial& trial) {
  Json json = Json::object();
  visit_without_column(
      trial, [&](const char* name, const auto& field) { json[name] = field_json(field); });
  return json;
}

std::string trial_fields_text(const Trial& trial) {
  static const Json kDefaults = fields_without_column(Trial());
  Json json = fields_without_column(trial);
  for (const auto& [name, value] : kDefaults.items()) {
    if (json[name] == value) json.erase(name);
  }
  return json_text(json);
}

/// Sets the fields that `text` names and ignores names that are not known. Throws Json::exception
/// or InputError for text that trial_fields_text() does not write.
void read_trial_fields(const std::string& text, Trial& trial) {
  if (text == "{}") return;
  const Json json = Json::parse(text);
  visit_without_column(trial, [&](const char* name, auto& field) {
    if (json.contains(name)) read_field(json.at(name), field);
  });
}

static_assert(std::endian::native == std::endian::little, "sample blobs are little-endian");

constexpr const char* kReadSessions =
    "SELECT id, kernel, spec_hash, problem, problem_json, device, device_info, driver, compiler, "
    "tool_version, strategy, seed, options, budget, space_size, started_at, finished_at, state, "
    "wall_seconds, (SELECT count(*) FROM trials WHERE trials.session = sessions.id) , timing FROM "
    "sessions WHERE id BETWEEN ? AND ? ORDER BY id";

template <typename Enum, std::size_t Size>
Enum parse_name(const std::string& text, const std::array<Enum, Size>& all) {
  for (const Enum value : all) {
    if (name_of(value) == text) {
      return value;
    }
  }
  throw InputError("unknown name '" + text + "'");
}

constexpr std::array kTimings = {Timing::eager, Timing::graph};
constexpr std::array kStates = {SessionState::running, SessionState::finished,
                                SessionState::interrupted};

// Throws InputError for what no measurement writes: sorting and medians need numbers.
std::vector<double> doubles_from_blob(const std::string& bytes) {
  if (bytes.size() % sizeof(double) != 0) {
    throw InputError("samples that are no list of numbers");
  }
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  if (!std::all_of(values.begin(), values.end(), [](double ns) { return std::isfinite(ns); })) {
    throw InputError("a sample that is no number");
  }
  return values;
}

Trial trial_from_row(const sql::Statement& row) {
  Trial trial;
  trial.config = config_from_json(Json::parse(row.text(2)));
  const std::optional<Outcome> outcome = parse_outcome(row.text(3));
  if (!outcome) {
    throw InputError("unknown outcome '" + row.text(3) + "'");
  }
  trial.outcome = *outcome;
  trial.message = row.text(4);
  trial.time_ns = row.real(5);
  trial.max_error = row.real(6);
  trial.registers = row.integer(7);
  trial.spill_bytes = row.integer(8);
  trial.shared_bytes = row.integer(9);
  trial.source_key = row.text(10);
  trial.cost = {.render_ns = row.integer(11),
                .compile_ns = row.integer(12),
                .verify_ns = row.integer(13),
                .measure_ns = row.integer(14)};
  if (!row.is_null(15)) {
    trial.samples = {.ns = doubles_from_blob(row.blob(15)),
                     .cold_cache = row.integer(16) != 0,
                     .batch = row.integer(17),
                     .clock_khz_before = row.integer(18),
                     .clock_khz_after = row.integer(19),
                     .throttled = row.integer(20) != 0,
                     .dropped_early = row.integer(21) != 0};
  }
  read_trial_fields(row.text(22), trial);
  return trial;
}

// Device names come from drivers: bytes that are no UTF-8 are replaced, never an error.
// NaN is stored as NULL, which the columns refuse.
double number_or(double value, double instead_of_nan) {
  return std::isnan(value) ? instead_of_nan : value;
}

}  // namespace

Timing stored_timing(const std::string& name) { return parse_name(name, kTimings); }

const DeviceInfo& DeviceTexts::parsed(const std::string& text) {
  const auto known = parsed_.find(text);
  if (known != parsed_.end()) return known->second;
  return parsed_.emplace(text, device_from_json(Json::parse(text))).first->second;
}

SessionRecord session_from_row(const sql::Statement& row, DeviceTexts& devices) {
  SessionRecord record;
  record.id = row.integer(0);
  record.key = {.kernel = row.text(1),
                .spec_hash = row.text(2),
                .problem = row.text(3),
                .device = row.text(5),
                .driver = row.text(7),
                .compiler = row.text(8),
                .tool_version = row.text(9),
                .strategy = row.text(10),
                .seed = std::strtoull(row.text(11).c_str(), nullptr, 10),
                .options = row.text(12)};
  record.problem_json = row.text(4);
  record.device_info = devices.parsed(row.text(6));
  record.key.device = current_identity(record.key.device, record.device_info);
  record.budget = row.text(13);
  record.space_size = row.integer(14);
  record.started_at = row.text(15);
  record.finished_at = row.is_null(16) ? "" : row.text(16);
  record.state = parse_name(row.text(17), kStates);
  record.wall_seconds = row.real(18);
  record.trial_count = row.integer(19);
  record.key.timing = stored_timing(row.text(20));
  return record;
}

std::optional<SessionRecord> find_session(sql::Database& database, const SessionKey& key,
                                          Completion completion) {
  sql::Statement query(
      database,
      "SELECT id FROM sessions WHERE kernel = ? AND spec_hash = ? AND problem = ? AND device = ? "
      "AND driver = ? AND compiler = ? AND tool_version = ? AND strategy = ? AND seed = ? AND "
      "options = ? AND (state = 'finished') = ? AND timing = ? ORDER BY id DESC LIMIT 1");
  int slot = 0;
  for (const std::string* text : {&key.kernel, &key.spec_hash, &key.problem, &key.device,
                                  &key.driver, &key.compiler, &key.tool_version, &key.strategy}) {
    query.bind(++slot, *text);
  }
  query.bind(++slot, std::to_string(key.seed));
  query.bind(++slot, key.options);
  query.bind(++slot, completion == Completion::finished ? 1 : 0);
  query.bind(++slot, std::string(name_of(key.timing)));
  if (!query.step()) {
    return std::nullopt;
  }
  return read_sessions(database, query.integer(0)).at(0);
}

std::vector<SessionRecord> read_sessions(sql::Database& database, std::optional<SessionId> id) {
  sql::Statement query(database, kReadSessions);
  query.bind_all(id.value_or(0), id.value_or(std::numeric_limits<SessionId>::max()));
  std::vector<SessionRecord> rows;
  DeviceTexts devices;
  while (query.step()) {
    rows.push_back(session_from_row(query, devices));
  }
  return rows;
}

std::vector<SessionRecord> read_unfinished(sql::Database& database, const std::string& kernel) {
  sql::Statement query(
      database, "SELECT id FROM sessions WHERE kernel = ? AND state <> 'finished' ORDER BY id");
  query.bind(1, kernel);
  std::vector<SessionRecord> rows;
  while (query.step()) rows.push_back(read_sessions(database, query.integer(0)).at(0));
  return rows;
}

std::vector<TrialRecord> read_trials(sql::Database& database, SessionId session) {
  sql::Statement query(
      database,
      "SELECT id, sequence, config_json, outcome, message, time_ns, max_error, registers, "
      "spill_bytes, shared_bytes, source_key, render_ns, compile_ns, verify_ns, measure_ns, ns, "
      "cold_cache, batch, clock_khz_before, clock_khz_after, throttled, dropped_early, fields FROM "
      "trials LEFT JOIN samples ON samples.trial = trials.id WHERE session = ? ORDER BY sequence");
  query.bind(1, session);
  std::vector<TrialRecord> rows;
  while (query.step()) {
    rows.push_back(
        {.id = query.integer(0), .sequence = query.integer(1), .trial = trial_from_row(query)});
  }
  read_measured(database, session, rows);
  return rows;
}

SessionId insert_session(sql::Database& database, const SessionRecord& record) {
  sql::Statement insert(database,
                        "INSERT INTO sessions (kernel, spec_hash, problem, problem_json, device, "
                        "device_info, driver, compiler, tool_version, strategy, seed, options, "
                        "budget, timing, space_size, started_at, state) VALUES (?, ?, ?, ?, ?, ?, "
                        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running') RETURNING id");
  const std::string device_info = json_text(to_json(record.device_info));
  const std::string seed = std::to_string(record.key.seed);
  const std::string timing(name_of(record.key.timing));
  const std::string started = record.started_at.empty() ? utc_now() : record.started_at;
  int slot = 0;
  for (const std::string* text :
       {&record.key.kernel, &record.key.spec_hash, &record.key.problem, &record.problem_json,
        &record.key.device, &device_info, &record.key.driver, &record.key.compiler,
        &record.key.tool_version, &record.key.strategy, &seed, &record.key.options, &record.budget,
        &timing}) {
    insert.bind(++slot, *text);
  }
  insert.bind(++slot, record.space_size);
  insert.bind(++slot, started);
  return insert.run_for_id();
}

void insert_trial(sql::Database& database, SessionId session, std::int64_t sequence,
                  const Trial& trial) {
  sql::Statement insert(
      database,
      "INSERT INTO trials (session, sequence, config, config_json, outcome, message, time_ns, "
      "max_error, registers, spill_bytes, shared_bytes, source_key, render_ns, compile_ns, "
      "verify_ns, measure_ns, recorded_at, fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?) RETURNING id");
  insert.bind_all(session, sequence, trial.config.text(), json_text(to_json(trial.config)),
                  std::string(name_of(trial.outcome)), trial.message, number_or(trial.time_ns, 0),
                  number_or(trial.max_error, std::numeric_limits<double>::infinity()),
                  trial.registers, trial.spill_bytes, trial.shared_bytes, trial.source_key,
                  trial.cost.render_ns, trial.cost.compile_ns, trial.cost.verify_ns,
                  trial.cost.measure_ns, utc_now(), trial_fields_text(trial));
  const std::int64_t id = insert.run_for_id();
  insert_measured(database, id, trial);
  if (trial.samples.ns.empty()) {
    return;
  }
  sql::Statement samples(
      database,
      "INSERT INTO samples (trial, cold_cache, batch, clock_khz_before, clock_khz_after, "
      "throttled, dropped_early, ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  samples.bind_all(id, static_cast<int>(trial.samples.cold_cache), trial.samples.batch,
                   trial.samples.clock_khz_before, trial.samples.clock_khz_after,
                   static_cast<int>(trial.samples.throttled),
                   static_cast<int>(trial.samples.dropped_early));
  samples.bind_blob(8, {reinterpret_cast<const char*>(trial.samples.ns.data()),
                        trial.samples.ns.size() * sizeof(double)});
  samples.run();
}

void update_session(sql::Database& database, SessionId session, SessionState state,
                    double wall_seconds) {
  sql::Statement update(database,
                        "UPDATE sessions SET state = ?, wall_seconds = wall_seconds + ?, "
                        "finished_at = ? WHERE id = ?");
  update.bind_all(std::string(name_of(state)), wall_seconds, utc_now(), session);
  update.run();
}

void count_seconds(sql::Database& database, SessionId session, double more_wall_seconds) {
  sql::Statement update(database,
                        "UPDATE sessions SET wall_seconds = wall_seconds + ? WHERE id = ?");
  update.bind_all(more_wall_seconds, session);
  update.run();
}

void insert_finished(sql::Database& database, const FinishedSession& session) {
  const SessionId id = insert_session(database, session.record);
  sql::Statement update(
      database, "UPDATE sessions SET state = ?, finished_at = ?, wall_seconds = ? WHERE id = ?");
  update.bind_all(std::string(name_of(session.record.state)), session.record.finished_at,
                  session.record.wall_seconds, id);
  update.run();
  std::int64_t sequence = 0;
  for (const Trial& trial : session.trials) insert_trial(database, id, ++sequence, trial);
  if (session.best)
    insert_best(database, id, *session.best, id_behind_newer(database, *session.best));
}

std::vector<std::string> check_rows(sql::Database& database) {
  std::vector<std::string> findings = database.damage();
  sql::Statement gaps(database,
                      "SELECT session, count(*), max(sequence) FROM trials GROUP BY session HAVING "
                      "count(*) <> max(sequence)");
  while (gaps.step()) {
    findings.push_back("session " + gaps.text(0) + " has " + gaps.text(1) +
                       " trials but its last sequence number is " + gaps.text(2));
  }
  sql::Statement lone(database,
                      "SELECT sessions.id FROM sessions JOIN best ON best.session = sessions.id "
                      "WHERE NOT EXISTS (SELECT 1 FROM trials WHERE trials.session = sessions.id "
                      "AND trials.config = best.config AND outcome = 'ok')");
  while (lone.step()) {
    findings.push_back("session " + lone.text(0) +
                       " publishes a best that none of its trials proved");
  }
  return findings;
}

}  // namespace kiln
