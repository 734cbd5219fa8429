// SPDX-License-Identifier: Apache-2.0
#include "db/session_copy.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/measured_rows.hpp"

namespace kiln {
namespace {

void bind_column(SQLite::Statement& insert, int slot, const SQLite::Column& column) {
  if (column.isInteger()) {
    insert.bind(slot, static_cast<std::int64_t>(column.getInt64()));
  } else if (column.isFloat()) {
    insert.bind(slot, column.getDouble());
  } else if (column.isBlob()) {
    insert.bind(slot, column.getBlob(), column.getBytes());
  } else if (column.isNull()) {
    insert.bind(slot);
  } else {
    insert.bind(slot, column.getString());
  }
}

// Columns `first` and on of the row become the slots `first_slot` and on.
void bind_columns(SQLite::Statement& insert, int first_slot, SQLite::Statement& row, int first) {
  for (int i = first; i < row.getColumnCount(); ++i) {
    bind_column(insert, first_slot + i - first, row.getColumn(i));
  }
}

void copy_samples(SQLite::Database& source, std::int64_t from, SQLite::Database& target,
                  std::int64_t to) {
  SQLite::Statement row(source,
                        "SELECT ns, cold_cache, batch, clock_khz_before, clock_khz_after, "
                        "throttled, dropped_early FROM samples WHERE trial = ?");
  row.bind(1, from);
  if (!row.executeStep()) {
    return;
  }
  SQLite::Statement insert(target,
                           "INSERT INTO samples (trial, ns, cold_cache, batch, clock_khz_before, "
                           "clock_khz_after, throttled, dropped_early) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, to);
  bind_columns(insert, 2, row, 0);
  insert.exec();
}

// The rows of `select` for `from`, each after `to`, through `insert`.
void copy_rows(SQLite::Statement& select, std::int64_t from, SQLite::Statement& insert,
               std::int64_t to) {
  select.bind(1, from);
  while (select.executeStep()) {
    insert.bind(1, to);
    bind_columns(insert, 2, select, 0);
    insert.exec();
    insert.reset();
  }
}

void copy_measured(SQLite::Database& source, std::int64_t from, SQLite::Database& target,
                   std::int64_t to) {
  if (!has_measured_rows(source)) return;
  SQLite::Statement metrics(source, "SELECT name, value FROM metrics WHERE trial = ?");
  SQLite::Statement metric(target, "INSERT INTO metrics (trial, name, value) VALUES (?, ?, ?)");
  copy_rows(metrics, from, metric, to);
  SQLite::Statement conditions(source,
                               "SELECT memory_clock_khz, temperature_c, power_mw, throttle "
                               "FROM conditions WHERE trial = ?");
  SQLite::Statement condition(target,
                              "INSERT INTO conditions (trial, memory_clock_khz, temperature_c, "
                              "power_mw, throttle) VALUES (?, ?, ?, ?, ?)");
  copy_rows(conditions, from, condition, to);
}

void copy_trials(SQLite::Database& source, SessionId from, SQLite::Database& target, SessionId to) {
  SQLite::Statement row(source,
                        "SELECT id, sequence, config, config_json, outcome, message, time_ns, "
                        "max_error, registers, spill_bytes, shared_bytes, source_key, render_ns, "
                        "compile_ns, verify_ns, measure_ns, recorded_at FROM trials "
                        "WHERE session = ? ORDER BY sequence");
  row.bind(1, from);
  SQLite::Statement insert(
      target,
      "INSERT INTO trials (session, sequence, config, config_json, outcome, message, time_ns, "
      "max_error, registers, spill_bytes, shared_bytes, source_key, render_ns, compile_ns, "
      "verify_ns, measure_ns, recorded_at) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  while (row.executeStep()) {
    insert.bind(1, to);
    bind_columns(insert, 2, row, 1);
    insert.exec();
    insert.reset();
    const std::int64_t trial = target.getLastInsertRowid();
    copy_samples(source, row.getColumn(0).getInt64(), target, trial);
    copy_measured(source, row.getColumn(0).getInt64(), target, trial);
  }
}

}  // namespace

std::vector<BestRow> best_rows_of(SQLite::Database& source, SessionId session) {
  SQLite::Statement query(source, "SELECT id, published_at FROM best WHERE session = ?");
  query.bind(1, session);
  std::vector<BestRow> rows;
  while (query.executeStep()) {
    rows.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getString()});
  }
  return rows;
}

SessionId copy_session(SQLite::Database& source, SessionId from, SQLite::Database& target) {
  SQLite::Statement row(source,
                        "SELECT kernel, spec_hash, problem, problem_json, device, device_info, "
                        "driver, compiler, tool_version, strategy, seed, options, budget, "
                        "space_size, started_at, finished_at, state, wall_seconds FROM sessions "
                        "WHERE id = ?");
  row.bind(1, from);
  row.executeStep();
  SQLite::Statement insert(
      target,
      "INSERT INTO sessions (kernel, spec_hash, problem, problem_json, device, device_info, "
      "driver, compiler, tool_version, strategy, seed, options, budget, space_size, started_at, "
      "finished_at, state, wall_seconds) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  bind_columns(insert, 1, row, 0);
  insert.exec();
  const SessionId to = target.getLastInsertRowid();
  copy_trials(source, from, target, to);
  for (const DriftRecord& drift : read_drift(source, from)) insert_drift(target, to, drift);
  return to;
}

void copy_best(SQLite::Database& source, std::int64_t best, SQLite::Database& target,
               SessionId to) {
  SQLite::Statement row(source,
                        "SELECT config, config_json, template_hash, time_ns, default_time_ns, "
                        "naive_time_ns, verdict, bytes, flops, trials, failures, evidence, "
                        "published_at FROM best WHERE id = ?");
  row.bind(1, best);
  row.executeStep();
  SQLite::Statement insert(
      target,
      "INSERT INTO best (session, config, config_json, template_hash, time_ns, default_time_ns, "
      "naive_time_ns, verdict, bytes, flops, trials, failures, evidence, published_at) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, to);
  bind_columns(insert, 2, row, 0);
  insert.exec();
  if (!has_measured_rows(source)) return;
  SQLite::Statement objectives(source,
                               "SELECT name, value, default_value FROM objectives WHERE best = ?");
  SQLite::Statement objective(target,
                              "INSERT INTO objectives (best, name, value, default_value) "
                              "VALUES (?, ?, ?, ?)");
  copy_rows(objectives, best, objective, target.getLastInsertRowid());
}

}  // namespace kiln
