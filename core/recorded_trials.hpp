// RecordedTrials: what another tuner stored about one kernel on one device, as plain values.
//
// The readers of interchange/ fill it; replay searches in it and imports take bests from it.
// Nothing here knows a spec: tunables and their values are what the file says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/outcome.hpp"
#include "core/value.hpp"

namespace kiln {

struct RecordedTunable {
  std::string name;
  std::vector<Value> values;  ///< in the order of the file; T4: ascending, as it lists none
  friend bool operator==(const RecordedTunable&, const RecordedTunable&) = default;
};

/// One recorded config and what became of it.
struct RecordedTrial {
  std::vector<Value> values;  ///< one per tunable, in their order
  Outcome outcome = Outcome::ok;
  std::string message;             ///< the file's own word for a failure; empty for ok
  double time_ns = 0;              ///< 0 unless ok
  std::vector<double> samples_ns;  ///< single runs, where the file has them
  /// Other numbers by name, units as recorded.
  std::vector<std::pair<std::string, double>> metrics;
  std::string taken_at;  ///< timestamp of the file; may be empty
  friend bool operator==(const RecordedTrial&, const RecordedTrial&) = default;
};

struct RecordedTrials {
  std::string path;     ///< of the file, for messages
  std::string kernel;   ///< empty where the file does not say; the same for device and problem
  std::string device;   ///< marketing name
  std::string problem;  ///< sizes in the file's order: "4096 4096"
  /// Sizes of the problem by name, {"m", "1024"}, where tunables of the file are sizes.
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<RecordedTunable> tunables;
  std::vector<RecordedTrial> trials;  ///< empty only where `bad` says why
  /// What the file was optimised for, where that is not the time: "energy", "time and energy".
  std::string other_objective;
  std::vector<std::string> bad;    ///< a message for each row that was left out, with its place
  std::vector<std::string> notes;  ///< what was taken for granted: the unit of time
  friend bool operator==(const RecordedTrials&, const RecordedTrials&) = default;
};

}  // namespace kiln
