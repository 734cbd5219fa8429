// Rows of schema version 3, see the header.
// SPDX-License-Identifier: Apache-2.0
#include "db/measured_rows.hpp"

#include <map>

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

namespace kiln {
namespace {

bool knows_conditions(const Samples& samples) {
  return samples.memory_clock_khz > 0 || samples.temperature_c > 0 || samples.power_mw > 0 ||
         samples.throttle != kThrottleUnknown;
}

constexpr const char* kNewestOfTime =
    "SELECT max(best.id) FROM best JOIN sessions ON sessions.id = best.session "
    "WHERE ?1 = '' OR kernel = ?1 GROUP BY kernel, problem, device ORDER BY 1";

constexpr const char* kNewest =
    "SELECT max(best.id) FROM best JOIN sessions ON sessions.id = best.session "
    "LEFT JOIN objectives ON objectives.best = best.id "
    "WHERE (?1 = '' OR kernel = ?1) AND coalesce(objectives.name, 'time') = ?2 "
    "GROUP BY kernel, problem, device ORDER BY 1";

}  // namespace

bool has_measured_rows(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt() >= 3;
}

void insert_measured(SQLite::Database& database, std::int64_t trial, const Trial& measured) {
  for (const auto& [name, value] : measured.metrics) {
    SQLite::Statement insert(database, "INSERT INTO metrics (trial, name, value) VALUES (?, ?, ?)");
    SQLite::bind(insert, trial, name, value);
    insert.exec();
  }
  const Samples& samples = measured.samples;
  if (!knows_conditions(samples)) return;
  SQLite::Statement insert(database,
                           "INSERT INTO conditions (trial, memory_clock_khz, temperature_c, "
                           "power_mw, throttle) VALUES (?, ?, ?, ?, ?)");
  SQLite::bind(insert, trial, samples.memory_clock_khz, samples.temperature_c, samples.power_mw,
               samples.throttle);
  insert.exec();
}

void read_measured(SQLite::Database& database, SessionId session,
                   std::vector<TrialRecord>& trials) {
  if (!has_measured_rows(database)) return;
  std::map<std::int64_t, Trial*> by_id;
  for (TrialRecord& record : trials) by_id.emplace(record.id, &record.trial);
  SQLite::Statement metrics(database,
                            "SELECT trial, name, value FROM metrics JOIN trials ON trials.id = "
                            "metrics.trial WHERE session = ?");
  metrics.bind(1, session);
  while (metrics.executeStep()) {
    by_id.at(metrics.getColumn(0).getInt64())->metrics[metrics.getColumn(1).getString()] =
        metrics.getColumn(2).getDouble();
  }
  SQLite::Statement conditions(database,
                               "SELECT trial, memory_clock_khz, temperature_c, power_mw, throttle "
                               "FROM conditions JOIN trials ON trials.id = conditions.trial "
                               "WHERE session = ?");
  conditions.bind(1, session);
  while (conditions.executeStep()) {
    Samples& samples = by_id.at(conditions.getColumn(0).getInt64())->samples;
    samples.memory_clock_khz = conditions.getColumn(1).getInt64();
    samples.temperature_c = conditions.getColumn(2).getInt64();
    samples.power_mw = conditions.getColumn(3).getInt64();
    samples.throttle = conditions.getColumn(4).getString();
  }
}

std::vector<std::int64_t> newest_bests(SQLite::Database& database, const std::string& kernel,
                                       const std::string& objective) {
  std::vector<std::int64_t> rows;
  if (has_measured_rows(database)) {
    SQLite::Statement query(database, kNewest);
    query.bind(1, kernel);
    query.bind(2, objective);
    while (query.executeStep()) rows.push_back(query.getColumn(0).getInt64());
  } else if (objective == "time") {
    SQLite::Statement query(database, kNewestOfTime);
    query.bind(1, kernel);
    while (query.executeStep()) rows.push_back(query.getColumn(0).getInt64());
  }
  return rows;
}

void insert_objective(SQLite::Database& database, std::int64_t row, const BestRecord& best) {
  if (best.objective == "time") return;
  SQLite::Statement insert(
      database, "INSERT INTO objectives (best, name, value, default_value) VALUES (?, ?, ?, ?)");
  SQLite::bind(insert, row, best.objective, best.value);
  if (best.default_value) insert.bind(4, *best.default_value);
  insert.exec();
}

void read_objective(SQLite::Database& database, std::int64_t row, BestRecord& best) {
  if (!has_measured_rows(database)) return;
  SQLite::Statement query(database,
                          "SELECT name, value, default_value FROM objectives WHERE best = ?");
  query.bind(1, row);
  if (!query.executeStep()) return;
  best.objective = query.getColumn(0).getString();
  best.value = query.getColumn(1).getDouble();
  if (!query.getColumn(2).isNull()) best.default_value = query.getColumn(2).getDouble();
}

void insert_drift(SQLite::Database& database, SessionId session, const DriftRecord& drift) {
  SQLite::Statement insert(database,
                           "INSERT INTO drift (session, sequence, config, ratio, low, high, "
                           "took_ns) VALUES (?, ?, ?, ?, ?, ?, ?)");
  SQLite::bind(insert, session, drift.sequence, drift.config, drift.ratio, drift.low, drift.high,
               drift.took_ns);
  insert.exec();
}

std::vector<DriftRecord> read_drift(SQLite::Database& database, SessionId session) {
  if (!has_measured_rows(database)) return {};
  SQLite::Statement query(database,
                          "SELECT sequence, config, ratio, low, high, took_ns FROM drift WHERE "
                          "session = ? ORDER BY id");
  query.bind(1, session);
  std::vector<DriftRecord> rows;
  while (query.executeStep()) {
    rows.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getString(),
                    query.getColumn(2).getDouble(), query.getColumn(3).getDouble(),
                    query.getColumn(4).getDouble(), query.getColumn(5).getInt64()});
  }
  return rows;
}

}  // namespace kiln
