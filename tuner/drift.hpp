// Drift: a device that grows hot or is shared gets slower while a session runs, so that a config
// tried late looks worse than it is. The config that leads is measured again now and then; times
// are compared as if all had been taken at once. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "db/store.hpp"

namespace kiln {

/// When to measure the leader again: after two seconds, then at intervals that grow by half, and
/// never for more than a fiftieth of the session's time.
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
  /// It was done and took `seconds`.
  void done(double elapsed, double seconds);

 private:
  DriftOptions options_;
  double next_;
  double interval_;
  double spent_ = 0;
  double last_ = 0;
};

/// The ratio of `now` to `then` (samples of one config in nanoseconds, minutes apart), with bounds
/// that are 4 standard errors of both medians and 1% away: inside of them nothing has changed.
/// `sequence`, `config` and `took_ns` stay empty.
[[nodiscard]] DriftRecord compare_with_then(std::span<const double> then,
                                            std::span<const double> now);

/// How slow the device was when each trial was measured, relative to the beginning of the session.
class DriftCurve {
 public:
  /// The leader, whose trial has the number `leader`, was measured again after the trial
  /// `drift.sequence`. Within the noise, and beyond 1.25 to either side, it counts as unchanged.
  void add(const DriftRecord& drift, std::int64_t leader);
  /// 1.1: a run took a tenth longer then. Between two measurements it changes evenly.
  [[nodiscard]] double at(std::int64_t sequence) const;

 private:
  std::map<std::int64_t, double> points_;  ///< by sequence number
};

}  // namespace kiln
