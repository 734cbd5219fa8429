// SPDX-License-Identifier: Apache-2.0
#include "db/session_digest.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "core/hash.hpp"
#include "core/json.hpp"
#include "core/json_text.hpp"
#include "db/measured_rows.hpp"
#include "db/rows.hpp"
#include "db/server/postgres_text.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace {

Json samples_json(const std::string& bytes) {
  Json list = Json::array();
  for (std::size_t i = 0; i < bytes.size() / sizeof(double); ++i) {
    double value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(double), sizeof value);
    list.push_back(number_to_json(value));
  }
  return list;
}

Json column_json(const sql::Statement& row, int column) {
  switch (row.type(column)) {
    case sql::Type::null:
      return nullptr;
    case sql::Type::integer:
      return row.integer(column);
    case sql::Type::real:
      return number_to_json(row.real(column));
    case sql::Type::blob:
      return samples_json(row.blob(column));
    case sql::Type::text:
      return storable_text(row.text(column));  // so that the text is the same in every store
  }
  return nullptr;
}

// The columns from `first` to before `last` by their names in the query.
Json columns_json(const sql::Statement& row, int first, int last) {
  Json json = Json::object();
  for (int i = first; i < last; ++i) json[row.name(i)] = column_json(row, i);
  return json;
}

std::string line_of(const char* kind, Json content) {
  Json line = Json::object();
  line[kind] = std::move(content);
  return json_text(line);
}

int rank_of(const std::string& state) {
  return state == "finished" ? 2 : state == "interrupted" ? 1 : 0;
}

// Columns 1 to 16 never change in a session; 17 to 19 are its progress.
constexpr const char* kSessions =
    "SELECT id, started_at, kernel, problem, problem_json, device, device_info, driver, compiler, "
    "tool_version, spec_hash, strategy, seed, options, budget, space_size, timing, state, "
    "finished_at, wall_seconds FROM sessions WHERE (?1 = '' OR (kernel = ?1 AND problem = ?2 AND "
    "device = ?3)) ORDER BY id";
constexpr int kFirstOfIdentity = 1;
constexpr int kFirstOfProgress = 17;
constexpr int kSessionColumns = 20;

// What version 3 added to the trials of a session; rows without it read as before.
class MeasuredReader {
 public:
  MeasuredReader(sql::Database& database, SessionId session) {
    sql::Statement metrics(database, kMetricsOfSession);
    metrics.bind(1, session);
    while (metrics.step()) {
      metrics_[metrics.integer(0)][metrics.text(1)] = number_to_json(metrics.real(2));
    }
    sql::Statement conditions(database, kConditionsOfSession);
    conditions.bind(1, session);
    while (conditions.step()) {
      conditions_[conditions.integer(0)] = columns_json(conditions, 1, 5);
    }
  }

  void add(std::int64_t trial, Json& json) const {
    const auto metrics = metrics_.find(trial);
    if (metrics != metrics_.end()) json["metrics"] = metrics->second;
    const auto conditions = conditions_.find(trial);
    if (conditions != conditions_.end()) json["conditions"] = conditions->second;
  }

 private:
  std::unordered_map<std::int64_t, Json> metrics_;
  std::unordered_map<std::int64_t, Json> conditions_;
};

void add_objective(sql::Database& database, std::int64_t best, Json& json) {
  sql::Statement query(database,
                       "SELECT name, value, default_value FROM objectives WHERE best = ?");
  query.bind(1, best);
  if (query.step()) json["objective"] = columns_json(query, 0, 3);
}

// The columns behind samples_ns are not part of the text, or not always.
constexpr const char* kTrials =
    "SELECT sequence, config, config_json, outcome, message, time_ns, max_error, registers, "
    "spill_bytes, shared_bytes, source_key, render_ns, compile_ns, verify_ns, measure_ns, "
    "cold_cache, batch, clock_khz_before, clock_khz_after, throttled, dropped_early, ns AS "
    "samples_ns, recorded_at, trials.id, fields FROM trials LEFT JOIN samples ON samples.trial = "
    "trials.id WHERE session = ? ORDER BY sequence";
constexpr int kTrialColumns = 22;
constexpr int kTrialId = 23;
constexpr int kTrialFields = 24;

constexpr const char* kBests =
    "SELECT config, config_json, template_hash, time_ns, default_time_ns, naive_time_ns, verdict, "
    "bytes, flops, trials, failures, published_at, evidence, id FROM best WHERE session = ?";
constexpr int kBestColumns = 13;
constexpr int kBestPublished = 11;
constexpr int kBestId = 13;

std::string trial_line(const MeasuredReader& measured, sql::Statement& row) {
  Json json = columns_json(row, 0, kTrialColumns);
  measured.add(row.integer(kTrialId), json);
  // Left out if empty: the text of a trial from before version 5 stays as it was.
  if (row.text(kTrialFields) != "{}") json["fields"] = column_json(row, kTrialFields);
  return line_of("trial", std::move(json));
}

struct BestLine {
  std::string published_at;
  std::string line;
  std::int64_t id = 0;
  friend bool operator<(const BestLine& a, const BestLine& b) {
    return std::tie(a.published_at, a.line) < std::tie(b.published_at, b.line);
  }
};

// Sorted: the order in which a session published is that of its times, whatever the row ids.
std::vector<BestLine> best_lines(sql::Database& database, SessionId session) {
  sql::Statement query(database, kBests);
  query.bind(1, session);
  std::vector<BestLine> lines;
  while (query.step()) {
    Json json = columns_json(query, 0, kBestColumns);
    add_objective(database, query.integer(kBestId), json);
    lines.push_back(
        {query.text(kBestPublished), line_of("best", std::move(json)), query.integer(kBestId)});
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void read_trial_keys(sql::Database& database, SessionDigest& session) {
  sql::Statement query(database, kTrials);
  query.bind(1, session.id);
  const MeasuredReader measured(database, session.id);
  std::string chain;
  while (query.step()) {
    chain = hash128_hex(chain + trial_line(measured, query));
    session.trials.push_back(chain);
    session.recorded = hash128_hex(session.recorded + query.text(kTrialColumns));
  }
}

}  // namespace

std::string SessionDigest::order() const {
  std::string all = progress + (trials.empty() ? "" : trials.back());
  for (const std::string& best : bests) {
    all += best;
  }
  return started_at + '\n' + identity + '\n' + hash128_hex(all);
}

std::vector<SessionDigest> read_digests(sql::Database& database, const DigestKey& key) {
  std::vector<SessionDigest> digests;
  sql::Statement query(database, kSessions);
  query.bind_all(key.kernel, key.problem, key.device);
  while (query.step()) {
    SessionDigest digest;
    digest.id = query.integer(0);
    digest.started_at = query.text(1);
    digest.key = {query.text(2), query.text(3), query.text(5)};
    digest.timing = stored_timing(query.text(16));
    digest.identity = line_of("session", columns_json(query, kFirstOfIdentity, kFirstOfProgress));
    digest.progress = line_of("progress", columns_json(query, kFirstOfProgress, kSessionColumns));
    digest.state_rank = rank_of(query.text(17));
    digest.wall_seconds = query.real(19);
    digest.finished_at = query.text(18);
    read_trial_keys(database, digest);
    for (const BestLine& best : best_lines(database, digest.id)) {
      digest.bests.push_back(hash128_hex(best.line));
    }
    std::sort(digest.bests.begin(), digest.bests.end());
    digests.push_back(std::move(digest));
  }
  return digests;
}

void write_session_text(sql::Database& database, const SessionDigest& session,
                        const LineSink& sink) {
  sink(session.identity);
  sink(session.progress);
  sql::Statement query(database, kTrials);
  query.bind(1, session.id);
  const MeasuredReader measured(database, session.id);
  while (query.step()) {
    sink(trial_line(measured, query));
  }
  for (const DriftRecord& drift : read_drift(database, session.id)) {
    sink(line_of("drift", {{"sequence", drift.sequence},
                           {"config", drift.config},
                           {"ratio", number_to_json(drift.ratio)},
                           {"low", number_to_json(drift.low)},
                           {"high", number_to_json(drift.high)},
                           {"took_ns", drift.took_ns}}));
  }
  for (const BestLine& best : best_lines(database, session.id)) sink(best.line);
}

std::vector<BestKey> read_best_keys(sql::Database& database, SessionId session) {
  std::vector<BestKey> keys;
  for (const BestLine& best : best_lines(database, session)) {
    keys.push_back({best.id, best.published_at, hash128_hex(best.line)});
  }
  return keys;
}

bool extends(const SessionDigest& later, const SessionDigest& earlier) {
  const auto progress = [](const SessionDigest& one) {
    return std::tuple(one.trials.size(), one.bests.size(), one.wall_seconds, one.state_rank,
                      std::string_view(one.finished_at));
  };
  const std::size_t count = earlier.trials.size();
  return later.identity == earlier.identity && count <= later.trials.size() &&
         (count == 0 || earlier.trials.back() == later.trials[count - 1]) &&
         std::includes(later.bests.begin(), later.bests.end(), earlier.bests.begin(),
                       earlier.bests.end()) &&
         progress(earlier) <= progress(later);
}

}  // namespace kiln
