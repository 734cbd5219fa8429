// Drift: a hot or shared device becomes slower during a session, so a config that is tried late
// looks worse than it is. The leader is measured again from time to time, and times are corrected
// by the change. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "db/records.hpp"

namespace kiln {

/// Decides when to measure the leader again: after two seconds, then at intervals that grow by
/// half, for at most a fiftieth of the session's time.
struct DriftOptions {
  double first_seconds = 2;
  double growth = 1.5;
  double max_share = 0.02;  ///< of the session's wall time
};

class DriftSchedule {
 public:
  explicit DriftSchedule(const DriftOptions& options)
      : options_(options), next_(options.first_seconds), interval_(options.first_seconds) {}

  /// `elapsed`: seconds of this run of the session.
  [[nodiscard]] bool due(double elapsed) const;
  /// Reports a measurement of the leader that took `seconds`.
  void done(double elapsed, double seconds);

 private:
  DriftOptions options_;
  double next_;
  double interval_;
  double spent_ = 0;
  double last_ = 0;
};

/// Returns the ratio of `now` to `then`: samples of one config in nanoseconds, minutes apart. The
/// bounds are 4 standard errors of both medians and 1% away from the ratio. If 1 lies between them,
/// nothing has changed. `sequence`, `config` and `took_ns` stay empty.
[[nodiscard]] DriftRecord compare_with_then(std::span<const double> then,
                                            std::span<const double> now);

/// The slowdown of the device at each trial, relative to the beginning of the session.
class DriftCurve {
 public:
  /// The leader, whose trial has the number `leader`, was measured again after the trial
  /// `drift.sequence`. Within the noise, and beyond 1.25 to either side, it counts as unchanged.
  void add(const DriftRecord& drift, std::int64_t leader);
  /// Returns the slowdown; 1.1: a run took a tenth longer then. It is interpolated between two
  /// measurements.
  [[nodiscard]] double at(std::int64_t sequence) const;

 private:
  std::map<std::int64_t, double> points_;  ///< by sequence number
};

}  // namespace kiln
