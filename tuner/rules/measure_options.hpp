// The options of measuring, with their usual values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/timing.hpp"
#include "tuner/rules/stop_rule.hpp"

namespace kiln {

struct FinalsOptions {
  /// Fewer give no interval at 99% confidence (tuner/rules/verdict.hpp).
  std::size_t min_rounds = 8;
  std::size_t max_rounds = 50;
  double max_ns = 2e9;  ///< time limit of all rounds; min_rounds has priority
  /// Measure the energy of a run in each round, if the session measures energy. Turn it off if only
  /// times are needed: a reading takes MeasureOptions::energy_ns.
  bool energy = true;
};

struct MeasureOptions {
  /// Flush the last-level cache before each sample. Turn it off for kernels whose callers have just
  /// written their inputs.
  bool cold_cache = true;
  /// Set it to `graph` for kernels that the application replays from a CUDA or HIP graph.
  Timing timing = Timing::eager;
  /// Drop configs that are clearly slower than the incumbent. Off for other objectives than time.
  bool race = true;
  bool energy = false;        ///< measure the energy of a run too; the device must have a meter
  double energy_ns = 0.25e9;  ///< time of the runs between two readings of the meter
  /// Once per device worker: raises the clocks before anything is timed.
  double warm_up_ns = 0.2e9;
  StopOptions stop;
};

KILN_FIELDS(FinalsOptions, min_rounds, max_rounds, max_ns, energy);

KILN_FIELDS(MeasureOptions, cold_cache, timing, race, energy, energy_ns, warm_up_ns, stop);

}  // namespace kiln
