// Store: the SQLite file, or the PostgreSQL server, that holds sessions, trials and bests.
// docs/database_format.md is its page.
//
// A file has one writing process; a second writer is refused with a message that names the first. A
// server has one writer a session. Any number of processes may read. Every append is one durable
// commit: once append() returns, the trial survives SIGKILL. Several threads may share a Store; one
// call runs at a time. All failures throw DatabaseError, which names the place and what to do;
// TransientError if the disk is full or the server went away. The next call connects anew.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
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
  std::string options;  ///< everything else that changes results, canonical text: cache mode,
                        ///< variants, objective
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

class Store {
 public:
  enum class Mode {
    write,      ///< create if missing, migrate, take the writer's lock
    read,       ///< must exist
    immutable,  ///< a published copy: no locks, no WAL, never changes under us
  };
  /// `place`: a file, or the URL of a server (db/server_place.hpp).
  Store(const std::filesystem::path& place, Mode mode);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// The newest session with this key that is not finished, to resume.
  [[nodiscard]] std::optional<SessionRecord> find_unfinished(const SessionKey& key) const;
  /// The newest finished session with this key: running the same command again answers from it.
  [[nodiscard]] std::optional<SessionRecord> find_finished(const SessionKey& key) const;
  [[nodiscard]] SessionId begin_session(const SessionRecord& record);
  /// One durable commit. `sequence` counts from 1 within the session and may not repeat.
  /// `more_wall_seconds`: wall time of the session since the last report. Ends the config's
  /// attempt. If `next_config` is not empty, begins its attempt, as begin_attempt() does.
  void append(SessionId session, std::int64_t sequence, const Trial& trial,
              double more_wall_seconds = 0, const std::string& next_config = {});
  /// Durable. Call it before a device worker gets the config: if the config takes the machine down,
  /// the next run of the session knows.
  void begin_attempt(SessionId session, const std::string& config);
  /// Durable: a worker died over the config.
  void note_death(SessionId session, const std::string& config);
  /// Returns the attempts without a trial, in the order of their first begin. Needs a store that
  /// writes.
  [[nodiscard]] std::vector<AttemptRecord> attempts(SessionId session) const;
  /// Durable: adds wall time to the session, so that the time of a killed run counts.
  void add_wall_seconds(SessionId session, double seconds);
  /// Durable: the leader was measured again.
  void add_drift(SessionId session, const DriftRecord& drift);
  /// Returns the drift records in the order of measurement.
  [[nodiscard]] std::vector<DriftRecord> drift(SessionId session) const;
  /// Marks the end and publishes the best (if any) in one commit.
  void finish(SessionId session, SessionState state, double wall_seconds,
              const std::optional<BestRecord>& best);

  /// Adds finished sessions, all or none of them, in one durable commit. Skips a session if the
  /// file already holds its best (equal kernel, problem, device, config and time of publication).
  /// Returns the number of added sessions.
  std::size_t add_sessions(const std::vector<FinishedSession>& sessions);

  /// Reopens a finished or interrupted session, to continue it with a larger budget.
  void reopen(SessionId session);

  [[nodiscard]] std::vector<SessionRecord> sessions() const;
  /// The sessions of this kernel that are running, were killed or were interrupted.
  [[nodiscard]] std::vector<SessionRecord> unfinished(const std::string& kernel) const;
  [[nodiscard]] std::optional<SessionRecord> session(SessionId id) const;
  [[nodiscard]] std::vector<TrialRecord> trials(SessionId session) const;
  /// The newest best for `objective` per (kernel, problem, device identity, timing); `kernel`
  /// empty: all.
  [[nodiscard]] std::vector<BestRecord> bests(const std::string& kernel = {},
                                              const std::string& objective = "time") const;

  /// Returns the best that this session published last; nullopt if none.
  [[nodiscard]] std::optional<BestRecord> best_of(SessionId session) const;

  /// Of every session of which a trial was ok; reads neither samples nor evidence.
  [[nodiscard]] std::map<SessionId, SessionAnswer> answers() const;

  struct Info {
    std::string path;  ///< or URL
    int schema_version = 0;
    std::int64_t bytes = 0;
    std::int64_t sessions = 0;
    std::int64_t trials = 0;
    std::int64_t failures = 0;
    std::int64_t bests = 0;
    std::vector<std::string> devices;
  };
  [[nodiscard]] Info info() const;
  /// Runs the store's integrity check, if it has one, and Kiln's own (every trial has its session,
  /// sequences have no gaps, outcomes are known). Returns the findings; empty if there are none.
  [[nodiscard]] std::vector<std::string> check() const;

  /// Writes a compact copy for readers to `path`, completely or not at all (temporary file, fsync,
  /// rename). If `path` is a link, writes to its target.
  void publish(const std::filesystem::path& path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns $KILN_DB, else kiln/kiln.db in $XDG_DATA_HOME, else in ~/.local/share; empty if HOME is
/// not set.
[[nodiscard]] std::filesystem::path default_database_path();
/// The same without $KILN_DB: always a file.
[[nodiscard]] std::filesystem::path default_database_file();

}  // namespace kiln
