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

#include "db/records.hpp"

namespace kiln {

class Store {
 public:
  enum class Mode {
    write,      ///< create if missing, migrate, take the writer's lock
    read,       ///< must exist
    immutable,  ///< a published copy: no locks, no WAL, never changes under us
  };
  /// `place`: a file, or the URL of a server (db/server/server_place.hpp).
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
  /// Returns the attempts without a trial, in the order of their first begin.
  [[nodiscard]] std::vector<AttemptRecord> attempts(SessionId session) const;
  /// Durable: adds wall time to the session, so that the time of a killed run counts.
  void add_wall_seconds(SessionId session, double seconds);
  /// Durable: the leader was measured again.
  void add_drift(SessionId session, const DriftRecord& drift);
  /// Returns the drift records in the order of measurement.
  [[nodiscard]] std::vector<DriftRecord> drift(SessionId session) const;
  /// The stored trial of `config` was `ok`, and a later check failed: it is a failed trial from now
  /// on.
  void refuse(SessionId session, const std::string& config, const Failure& failure);

  /// Marks the end and publishes the best (if any) in one commit.
  void finish(SessionId session, SessionState state, double wall_seconds,
              const std::optional<BestRecord>& best);

  /// Adds finished sessions, all or none of them, in one durable commit. Skips a session if the
  /// file already holds its best (equal kernel, problem, device, config and time of publication).
  /// Returns the number of added sessions.
  std::size_t add_sessions(const std::vector<FinishedSession>& sessions);

  /// Reopens a finished or interrupted session, to continue it with `budget`, which is a larger
  /// one.
  void reopen(SessionId session, const std::string& budget);

  /// Removes sessions with all of their rows, all or none, in one durable commit. Throws
  /// DatabaseError if another process writes one of them. Kiln may give their numbers again.
  void remove_sessions(const std::vector<SessionId>& sessions);

  [[nodiscard]] std::vector<SessionRecord> sessions() const;
  /// The sessions of this kernel that are running, were killed or were interrupted.
  [[nodiscard]] std::vector<SessionRecord> unfinished(const std::string& kernel) const;
  [[nodiscard]] std::optional<SessionRecord> session(SessionId id) const;
  [[nodiscard]] std::vector<TrialRecord> trials(SessionId session) const;
  /// The newest best for `objective` per (kernel, problem, device identity, timing); `kernel`
  /// empty: all. Leaves out bests whose config gave a wrong result in a session of the same kernel,
  /// problem, device and source.
  [[nodiscard]] std::vector<BestRecord> bests(const std::string& kernel = {},
                                              const std::string& objective = "time") const;

  /// Returns whether this best of another source (a shipped row) has a config that gave a wrong
  /// result here, for its problem on its device.
  [[nodiscard]] bool refuses(const BestRecord& best) const;

  /// Returns the best that this session published last; nullopt if none.
  [[nodiscard]] std::optional<BestRecord> best_of(SessionId session) const;

  /// Returns an answer for each session with an `ok` trial. Reads neither samples nor evidence.
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

  /// Closes a file that this store writes and removes it, under the writer's lock: the next writer
  /// begins a new one. The store is of no use afterwards.
  void remove() &&;

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
