// Reads and writes the tables of schema version 3: metrics, conditions, objectives and drift.
// SPDX-License-Identifier: Apache-2.0
#include "db/measured_rows.hpp"

#include <map>

#include "db/sql.hpp"

namespace kiln {
namespace {

bool knows_conditions(const Samples& samples) {
  return samples.memory_clock_khz > 0 || samples.temperature_c > 0 || samples.power_mw > 0 ||
         samples.throttle != kThrottleUnknown;
}

}  // namespace

void insert_measured(sql::Database& database, std::int64_t trial, const Trial& measured) {
  for (const auto& [name, value] : measured.metrics) {
    sql::Statement insert(database, "INSERT INTO metrics (trial, name, value) VALUES (?, ?, ?)");
    insert.bind_all(trial, name, value);
    insert.run();
  }
  const Samples& samples = measured.samples;
  if (!knows_conditions(samples)) return;
  sql::Statement insert(database,
                        "INSERT INTO conditions (trial, memory_clock_khz, temperature_c, "
                        "power_mw, throttle) VALUES (?, ?, ?, ?, ?)");
  insert.bind_all(trial, samples.memory_clock_khz, samples.temperature_c, samples.power_mw,
                  samples.throttle);
  insert.run();
}

void read_measured(sql::Database& database, SessionId session, std::vector<TrialRecord>& trials) {
  std::map<std::int64_t, Trial*> by_id;
  for (TrialRecord& record : trials) by_id.emplace(record.id, &record.trial);
  sql::Statement metrics(database, kMetricsOfSession);
  metrics.bind(1, session);
  while (metrics.step()) {
    by_id.at(metrics.integer(0))->metrics[metrics.text(1)] = metrics.real(2);
  }
  sql::Statement conditions(database, kConditionsOfSession);
  conditions.bind(1, session);
  while (conditions.step()) {
    Samples& samples = by_id.at(conditions.integer(0))->samples;
    samples.memory_clock_khz = conditions.integer(1);
    samples.temperature_c = conditions.integer(2);
    samples.power_mw = conditions.integer(3);
    samples.throttle = conditions.text(4);
  }
}

void insert_objective(sql::Database& database, std::int64_t row, const BestRecord& best) {
  if (best.objective == "time") return;
  sql::Statement insert(
      database, "INSERT INTO objectives (best, name, value, default_value) VALUES (?, ?, ?, ?)");
  insert.bind_all(row, best.objective, best.value);
  if (best.default_value) insert.bind(4, *best.default_value);
  insert.run();
}

void read_objective(sql::Database& database, std::int64_t row, BestRecord& best) {
  sql::Statement query(database,
                       "SELECT name, value, default_value FROM objectives WHERE best = ?");
  query.bind(1, row);
  if (!query.step()) return;
  best.objective = query.text(0);
  best.value = query.real(1);
  if (!query.is_null(2)) best.default_value = query.real(2);
}

void insert_drift(sql::Database& database, SessionId session, const DriftRecord& drift) {
  sql::Statement insert(database,
                        "INSERT INTO drift (session, sequence, config, ratio, low, high, "
                        "took_ns) VALUES (?, ?, ?, ?, ?, ?, ?)");
  insert.bind_all(session, drift.sequence, drift.config, drift.ratio, drift.low, drift.high,
                  drift.took_ns);
  insert.run();
}

std::vector<DriftRecord> read_drift(sql::Database& database, SessionId session) {
  sql::Statement query(database,
                       "SELECT sequence, config, ratio, low, high, took_ns FROM drift WHERE "
                       "session = ? ORDER BY id");
  query.bind(1, session);
  std::vector<DriftRecord> rows;
  while (query.step()) {
    rows.push_back({query.integer(0), query.text(1), query.real(2), query.real(3), query.real(4),
                    query.integer(5)});
  }
  return rows;
}

}  // namespace kiln
