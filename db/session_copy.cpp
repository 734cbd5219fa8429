// SPDX-License-Identifier: Apache-2.0
#include "db/session_copy.hpp"

#include <unordered_map>

#include "db/measured_rows.hpp"
#include "db/rows.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace {

// Columns `first` and on of the row become the slots `first_slot` and on.
void bind_columns(sql::Statement& insert, int first_slot, const sql::Statement& row, int first) {
  for (int i = first; i < row.columns(); ++i) insert.bind_column(first_slot + i - first, row, i);
}

// The rows of `select` for `from`, each after `to`, through `insert`.
void copy_rows(sql::Statement& select, std::int64_t from, sql::Statement& insert, std::int64_t to) {
  select.bind(1, from);
  while (select.step()) {
    insert.bind(1, to);
    bind_columns(insert, 2, select, 0);
    insert.run();
  }
}

/// The trials of a session that were copied: their ids in the source and in the target.
struct CopiedTrials {
  SessionId from = 0;
  std::int64_t there = 0;  ///< those after this sequence
  std::unordered_map<std::int64_t, std::int64_t> ids;
};

// The rows that belong to copied trials. `select` takes the session and the sequence, and its first
// column is the trial, as that of `insert`. One statement for all: if the source is a server, each
// takes a way there and back.
void copy_rows_of(const CopiedTrials& trials, sql::Statement& select, sql::Statement& insert) {
  select.bind_all(trials.from, trials.there);
  while (select.step()) {
    const auto copied = trials.ids.find(select.integer(0));
    if (copied == trials.ids.end()) continue;  // stored since the trials were read
    insert.bind(1, copied->second);
    bind_columns(insert, 2, select, 1);
    insert.run();
  }
}

void copy_samples(const CopiedTrials& trials, sql::Database& source, sql::Database& target) {
  sql::Statement select(source,
                        "SELECT trial, ns, cold_cache, batch, clock_khz_before, clock_khz_after, "
                        "throttled, dropped_early FROM samples JOIN trials ON trials.id = "
                        "samples.trial WHERE session = ? AND sequence > ? ORDER BY sequence");
  sql::Statement insert(
      target,
      "INSERT INTO samples (trial, ns, cold_cache, batch, clock_khz_before, clock_khz_after, "
      "throttled, dropped_early) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  copy_rows_of(trials, select, insert);
}

void copy_metrics(const CopiedTrials& trials, sql::Database& source, sql::Database& target) {
  sql::Statement select(source,
                        "SELECT trial, name, value FROM metrics JOIN trials ON trials.id = "
                        "metrics.trial WHERE session = ? AND sequence > ? ORDER BY sequence, name");
  sql::Statement insert(target, "INSERT INTO metrics (trial, name, value) VALUES (?, ?, ?)");
  copy_rows_of(trials, select, insert);
}

void copy_conditions(const CopiedTrials& trials, sql::Database& source, sql::Database& target) {
  sql::Statement select(source,
                        "SELECT trial, memory_clock_khz, temperature_c, power_mw, throttle FROM "
                        "conditions JOIN trials ON trials.id = conditions.trial WHERE session = ? "
                        "AND sequence > ? ORDER BY sequence");
  sql::Statement insert(target,
                        "INSERT INTO conditions (trial, memory_clock_khz, temperature_c, power_mw, "
                        "throttle) VALUES (?, ?, ?, ?, ?)");
  copy_rows_of(trials, select, insert);
}

// The trials after the first `there`.
void copy_trials(sql::Database& source, SessionId from, sql::Database& target, SessionId to,
                 std::int64_t there) {
  sql::Statement row(
      source,
      "SELECT id, sequence, config, config_json, outcome, message, time_ns, max_error, registers, "
      "spill_bytes, shared_bytes, source_key, render_ns, compile_ns, verify_ns, measure_ns, "
      "recorded_at, fields FROM trials WHERE session = ? AND sequence > ? ORDER BY sequence");
  row.bind_all(from, there);
  sql::Statement insert(
      target,
      "INSERT INTO trials (session, sequence, config, config_json, outcome, message, time_ns, "
      "max_error, registers, spill_bytes, shared_bytes, source_key, render_ns, compile_ns, "
      "verify_ns, measure_ns, recorded_at, fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?) RETURNING id");
  CopiedTrials trials = {from, there, {}};
  while (row.step()) {
    insert.bind(1, to);
    bind_columns(insert, 2, row, 1);
    trials.ids[row.integer(0)] = insert.run_for_id();
  }
  copy_samples(trials, source, target);
  copy_metrics(trials, source, target);
  copy_conditions(trials, source, target);
}

}  // namespace

std::vector<BestRow> best_rows_of(sql::Database& source, SessionId session) {
  sql::Statement query(source, "SELECT id, published_at FROM best WHERE session = ?");
  query.bind(1, session);
  std::vector<BestRow> rows;
  while (query.step()) {
    rows.push_back({query.integer(0), query.text(1)});
  }
  return rows;
}

SessionId copy_session(sql::Database& source, SessionId from, sql::Database& target) {
  sql::Statement row(
      source,
      "SELECT kernel, spec_hash, problem, problem_json, device, device_info, driver, compiler, "
      "tool_version, strategy, seed, options, budget, space_size, started_at, finished_at, state, "
      "wall_seconds, timing FROM sessions WHERE id = ?");
  row.bind(1, from);
  (void)row.step();
  sql::Statement insert(
      target,
      "INSERT INTO sessions (kernel, spec_hash, problem, problem_json, device, device_info, "
      "driver, compiler, tool_version, strategy, seed, options, budget, space_size, started_at, "
      "finished_at, state, wall_seconds, timing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?) RETURNING id");
  bind_columns(insert, 1, row, 0);
  const SessionId to = insert.run_for_id();
  copy_trials(source, from, target, to, 0);
  for (const DriftRecord& drift : read_drift(source, from)) insert_drift(target, to, drift);
  return to;
}

void extend_session(sql::Database& source, SessionId from, sql::Database& target, SessionId to) {
  sql::Statement last(target, "SELECT coalesce(max(sequence), 0) FROM trials WHERE session = ?");
  last.bind(1, to);
  (void)last.step();
  copy_trials(source, from, target, to, last.integer(0));
  const std::vector<DriftRecord> drift = read_drift(source, from);
  for (std::size_t i = read_drift(target, to).size(); i < drift.size(); ++i) {
    insert_drift(target, to, drift[i]);
  }
  sql::Statement row(source, "SELECT state, finished_at, wall_seconds FROM sessions WHERE id = ?");
  row.bind(1, from);
  (void)row.step();
  sql::Statement update(
      target, "UPDATE sessions SET state = ?, finished_at = ?, wall_seconds = ? WHERE id = ?");
  bind_columns(update, 1, row, 0);
  update.bind(4, to);
  update.run();
}

namespace {

constexpr const char* kCopyBest =
    "INSERT INTO best (session, config, config_json, template_hash, time_ns, default_time_ns, "
    "naive_time_ns, verdict, bytes, flops, trials, failures, evidence, published_at) VALUES (?, ?, "
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id";
constexpr const char* kCopyBestTo =
    "INSERT INTO best (session, config, config_json, template_hash, time_ns, default_time_ns, "
    "naive_time_ns, verdict, bytes, flops, trials, failures, evidence, published_at, id) VALUES "
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id";

}  // namespace

void copy_best(sql::Database& source, std::int64_t best, sql::Database& target, SessionId to,
               std::optional<std::int64_t> id) {
  sql::Statement row(
      source,
      "SELECT config, config_json, template_hash, time_ns, default_time_ns, naive_time_ns, "
      "verdict, bytes, flops, trials, failures, evidence, published_at FROM best WHERE id = ?");
  row.bind(1, best);
  (void)row.step();
  const auto copied = [&](sql::Statement&& insert) {
    insert.bind(1, to);
    bind_columns(insert, 2, row, 0);
    if (id) insert.bind(15, *id);
    return insert.run_for_id();
  };
  const std::int64_t copy =
      id ? copied(sql::Statement(target, kCopyBestTo)) : copied(sql::Statement(target, kCopyBest));
  sql::Statement objectives(source,
                            "SELECT name, value, default_value FROM objectives WHERE best = ?");
  sql::Statement objective(
      target, "INSERT INTO objectives (best, name, value, default_value) VALUES (?, ?, ?, ?)");
  copy_rows(objectives, best, objective, copy);
}

}  // namespace kiln
