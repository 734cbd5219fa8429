// SessionLog: the rows of a session: finds or begins them, appends, counts and finishes.
//
// Decides whether a request continues a stored session, gets its answer from one, or starts a new
// one. Private to the session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "search/space.hpp"
#include "tuner/rules/scoring.hpp"
#include "tuner/session/session.hpp"

namespace kiln {

class SessionLog {
 public:
  /// Looks for a stored session with the request's key and reads its trials. Writes nothing.
  /// The setting's spec, `space` and `scoring` must outlive it.
  SessionLog(Store& store, const TuneRequest& request, const std::string& strategy,
             const Setting& setting, const Space& space, const Scoring& scoring);

  /// Returns whether a finished session answers the request, because the budget leaves no room for
  /// more.
  [[nodiscard]] bool answers(const Budget& budget) const;
  /// Begins the session, or reopens the stored one.
  void begin();
  /// Stores a trial durably, then returns its record. `next`, if any: the config that a worker gets
  /// next. Its attempt begins in the same commit, and the following note() does nothing.
  const TrialRecord& append(const Trial& trial, const Config* next);
  /// The config's trial was `ok` and a later check failed: stores it as failed.
  void refuse(const Config& config, const Failure& failure);
  /// Stores an event durably, since it may be the last of this run.
  void note(const Config& config, AttemptEvent event);
  /// Stores the used seconds, about once a second, so that killed runs count too.
  void note_time();
  /// Returns the unfinished attempts of earlier runs.
  [[nodiscard]] const std::vector<AttemptRecord>& open_attempts() const { return open_attempts_; }
  /// Marks the end and publishes the best.
  void finish(SessionState state, std::optional<BestRecord> best);

  [[nodiscard]] SessionId id() const { return record_.id; }
  /// Returns whether the stored session was measured on another device of this identity.
  [[nodiscard]] bool is_of_another_card() const {
    return stored_ordinal_ && *stored_ordinal_ != record_.device_info.ordinal;
  }
  [[nodiscard]] bool tried_every_config() const { return tried_of_space_ >= record_.space_size; }
  /// Returns whether nothing could be compared with the default config: of a space that has others,
  /// it alone was tried, or it alone of those that were tried is ok.
  [[nodiscard]] bool tried_only_default() const;
  [[nodiscard]] const SessionKey& key() const { return record_.key; }
  /// The request's spec and problem on the session's device.
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const std::vector<TrialRecord>& trials() const { return trials_; }
  /// Returns the leader's time, corrected for the current drift; 0 if there is no leader.
  [[nodiscard]] double best_ns() const;
  /// Returns the leader by the objective; nullptr if there is none yet.
  [[nodiscard]] const TrialRecord* leader() const;
  /// Returns the trial for strategies and the choice of finalists: time and samples are scores,
  /// corrected for drift.
  [[nodiscard]] TrialRecord judged(const TrialRecord& record) const;
  /// Returns the trial with this sequence number, as measured.
  [[nodiscard]] const Trial& trial(std::int64_t sequence) const {
    return trials_.at(static_cast<std::size_t>(sequence - 1)).trial;
  }
  /// Stores that the leader was measured again.
  void add_drift(DriftRecord drift);
  /// Returns the seconds of this run.
  [[nodiscard]] double run_seconds() const;
  /// Returns the median of a config; nullopt if it was not tried or not ok.
  [[nodiscard]] std::optional<double> time_of(const Config& config) const;

  [[nodiscard]] Progress search_progress() const;
  [[nodiscard]] SessionProgress progress(const Budget& budget, const Config& default_config) const;
  [[nodiscard]] SessionResult result(SessionEnd end) const;
  /// Returns the best of a session that has not ended (lookup/best_so_far.hpp).
  [[nodiscard]] std::optional<BestRecord> so_far() const;
  /// Returns a best with all fields that only the session knows.
  [[nodiscard]] BestRecord new_best() const;

 private:
  void count(std::size_t index);
  void take_up(const DriftRecord& drift);
  [[nodiscard]] double slowness(std::int64_t sequence) const;
  [[nodiscard]] double take_unnoted_seconds();
  [[nodiscard]] double elapsed_seconds() const { return earlier_seconds_ + run_seconds(); }

  Store& store_;
  const Setting setting_;
  const Space& space_;
  const Scoring& scoring_;
  SessionRecord record_;
  std::vector<TrialRecord> trials_;  ///< in order of sequence
  std::vector<AttemptRecord> open_attempts_;
  std::string begun_;  ///< config entered with the last trial, not yet with a worker
  std::optional<BestRecord> published_;
  std::optional<std::size_t> best_;  ///< index of the leader
  double best_score_ = 0;
  std::vector<DriftRecord> drifts_;
  DriftCurve drift_;
  std::int64_t tried_of_space_ = 0;  ///< the default config may lie outside of a restricted space
  std::int64_t failures_ = 0;
  std::int64_t without_progress_ = 0;
  std::int64_t stored_before_ = 0;
  std::optional<int> stored_ordinal_;  ///< device of the stored session
  double earlier_seconds_ = 0;
  double noted_seconds_ = 0;  ///< stored seconds of this run
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kiln
