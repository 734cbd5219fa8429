// SessionLog: a session's rows: found or begun, appended to, counted, finished.
//
// Decides whether a request continues a stored session, is answered by one, or starts anew. Private
// to the session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "search/space.hpp"
#include "tuner/scoring.hpp"
#include "tuner/session.hpp"

namespace kiln {

class SessionLog {
 public:
  /// Looks for a stored session with the request's key and reads its trials. Writes nothing.
  /// `space` and `scoring` must outlive it.
  SessionLog(Store& store, const TuneRequest& request, const std::string& strategy,
             const DeviceInfo& device, const Space& space, const Scoring& scoring);

  /// Is the request answered by a finished session, since the budget leaves room for nothing more?
  [[nodiscard]] bool answers(const Budget& budget) const;
  /// Begins the session, or takes the stored one up again.
  void begin();
  /// Stores a trial durably, then returns its record. `next`, if any, is about to be given to a
  /// worker: its attempt begins in the same commit, and the note() that follows does nothing.
  const TrialRecord& append(const Trial& trial, const Config* next);
  /// Stores durably what may be the last thing that this run does.
  void note(const Config& config, AttemptEvent event);
  /// Stores the seconds used, once a second or so: killed runs count too.
  void note_time();
  /// Attempts of earlier runs that came to no end.
  [[nodiscard]] const std::vector<AttemptRecord>& open_attempts() const { return open_attempts_; }
  /// Marks the end and publishes the best.
  void finish(SessionState state, std::optional<BestRecord> best);

  [[nodiscard]] SessionId id() const { return record_.id; }
  [[nodiscard]] const DeviceInfo& device() const { return record_.device_info; }
  [[nodiscard]] const std::vector<TrialRecord>& trials() const { return trials_; }
  /// Time of the leader, as a run would take now; 0: none.
  [[nodiscard]] double best_ns() const;
  /// The trial that leads by the objective; nullptr: none yet.
  [[nodiscard]] const TrialRecord* leader() const;
  /// The trial as strategies and the choice of finalists see it: time and samples are scores,
  /// corrected for drift.
  [[nodiscard]] TrialRecord judged(const TrialRecord& record) const;
  /// The trial with this sequence number, as it was measured.
  [[nodiscard]] const Trial& trial(std::int64_t sequence) const {
    return trials_.at(static_cast<std::size_t>(sequence - 1)).trial;
  }
  /// Stores that the leader was measured again.
  void add_drift(DriftRecord drift);
  /// Seconds of this run.
  [[nodiscard]] double run_seconds() const;
  /// Median of a config; nullopt when it was not tried or not ok.
  [[nodiscard]] std::optional<double> time_of(const Config& config) const;

  [[nodiscard]] Progress search_progress() const;
  [[nodiscard]] SessionProgress progress(const Budget& budget, const Config& default_config) const;
  [[nodiscard]] SessionResult result(SessionEnd end) const;
  /// A best with everything filled in that the session alone knows.
  [[nodiscard]] BestRecord new_best() const;

 private:
  void count(std::size_t index);
  void take_up(const DriftRecord& drift);
  [[nodiscard]] double slowness(std::int64_t sequence) const;
  [[nodiscard]] double take_unnoted_seconds();
  [[nodiscard]] double elapsed_seconds() const { return earlier_seconds_ + run_seconds(); }

  Store& store_;
  const Space& space_;
  const Scoring& scoring_;
  SessionRecord record_;
  std::vector<TrialRecord> trials_;  ///< in order of sequence
  std::vector<AttemptRecord> open_attempts_;
  std::string begun_;  ///< entered with the last trial, not yet given to a worker
  std::optional<BestRecord> published_;
  std::optional<std::size_t> best_;  ///< index of the leader
  double best_score_ = 0;
  std::vector<DriftRecord> drifts_;
  DriftCurve drift_;
  std::int64_t tried_of_space_ = 0;  ///< the default config may lie outside of a restricted space
  std::int64_t failures_ = 0;
  std::int64_t without_progress_ = 0;
  std::int64_t stored_before_ = 0;
  double earlier_seconds_ = 0;
  double noted_seconds_ = 0;  ///< of this run, that are stored
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kiln
