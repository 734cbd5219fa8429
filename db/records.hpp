// Records: sessions, trials and bests as values. A Store (db/store.hpp) keeps them; lookups and
// wisdom work on them and know of no database.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"
#include "core/timing.hpp"
#include "core/trial.hpp"

namespace kiln {

using SessionId = std::int64_t;

/// Identifies a session: a run with an equal key resumes it, any other run starts a new one.
struct SessionKey {
  std::string kernel;
  std::string spec_hash;  ///< content_hash of the spec
  std::string problem;    ///< Problem::text()
  std::string device;     ///< identity_of(device)
  std::string driver;
  std::string compiler;
  std::string tool_version;
  std::string strategy;
  std::uint64_t seed = 0;
  /// Canonical text of everything else that changes results (db/session_options.hpp).
  std::string options;
  Timing timing = Timing::eager;
  friend bool operator==(const SessionKey&, const SessionKey&) = default;
};

enum class SessionState { running, finished, interrupted };
/// How the best compares with the default config. none: no config was ok.
enum class Verdict { better, tie, unmeasurable, none };

[[nodiscard]] std::string_view name_of(SessionState state);
[[nodiscard]] std::string_view name_of(Verdict verdict);

struct SessionRecord {
  SessionId id = 0;
  SessionKey key;
  DeviceInfo device_info;
  std::string problem_json;  ///< the fields with their types
  std::string budget;        ///< e.g. "seconds=60 trials=200"
  std::int64_t space_size = 0;
  std::string started_at;   ///< UTC, ISO 8601
  std::string finished_at;  ///< empty while running
  SessionState state = SessionState::running;
  std::int64_t trial_count = 0;
  double wall_seconds = 0;  ///< summed over all runs of the session
};

/// One stored trial, in order of its sequence number.
struct TrialRecord {
  std::int64_t id = 0;
  std::int64_t sequence = 0;  ///< 1 is the default config
  Trial trial;
};

/// A config that a device worker got and that has no trial yet: it is running now, or its session
/// was killed while it ran.
struct AttemptRecord {
  std::string config;       ///< canonical text
  std::int64_t begun = 0;   ///< how often a device worker got it
  std::int64_t deaths = 0;  ///< how often that worker died while the session was alive
  friend bool operator==(const AttemptRecord&, const AttemptRecord&) = default;
};

/// The leader of the search, measured again: how far the device has drifted since its trial.
struct DriftRecord {
  std::int64_t sequence = 0;  ///< sequence number of the trial before it
  std::string config;         ///< canonical text
  double ratio = 1;           ///< its time now divided by its time in its trial
  /// Bounds of the ratio; if 1 lies outside them, the ratio is not noise.
  double low = 0;
  double high = 0;
  std::int64_t took_ns = 0;  ///< wall time of measuring again
  friend bool operator==(const DriftRecord&, const DriftRecord&) = default;

  [[nodiscard]] bool beyond_noise() const { return low > 1 || high < 1; }
};

/// The time of publication of a best that has none: of what another tuner recorded. Older than all.
inline constexpr const char* kUndated = "1970-01-01T00:00:00Z";

/// The config a finished session publishes, with the evidence for it.
struct BestRecord {
  SessionId session = 0;
  SessionKey key;
  DeviceInfo device_info;
  std::string problem_json;
  Config config;
  std::string template_hash;  ///< template hash of the config's variant
  double time_ns = 0;         ///< median in the finals
  /// The default config's median in the same finals; 0 if it was not ok.
  double default_time_ns = 0;
  std::optional<double> naive_time_ns;
  Verdict verdict = Verdict::none;
  std::string objective = "time";  ///< the objective of the session (core/metrics.hpp)
  /// Value of the objective, median in the finals; unused for "time".
  double value = 0;
  std::optional<double> default_value;  ///< the default config's value in the same finals
  double bytes = 0;                     ///< problem_cost, for GB/s and TFLOP/s
  double flops = 0;
  std::int64_t trials = 0;
  std::int64_t failures = 0;
  std::string evidence;      ///< JSON: the finalists with their samples
  std::string published_at;  ///< UTC, ISO 8601
  int layer = 0;             ///< the database it was read from; 0 has the highest preference
};

/// A whole session that is stored at once, by an import.
struct FinishedSession {
  SessionRecord record;
  std::vector<Trial> trials;  ///< in order of their sequence numbers
  std::optional<BestRecord> best;
};

/// What a session answers, in short.
struct SessionAnswer {
  double time_ns = 0;          ///< of its best; without one, of its fastest trial
  double default_time_ns = 0;  ///< of the default config likewise; 0: it was not ok
  Verdict verdict = Verdict::none;
  bool is_published = false;  ///< it has a best
};

// Layers of bests (BestRecord::layer) that are no database of the user's.

/// Rows of a selection lock. Their driver, compiler and template do not change the ranking, so a
/// rank with another driver chooses like the others.
inline constexpr int kLockedLayer = -1;
/// Shipped rows: after every database.
inline constexpr int kShippedLayer = 1000;

}  // namespace kiln
