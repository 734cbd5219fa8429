// How configs are measured: what a caller may change, with the usual values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tuner/stop_rule.hpp"

namespace kiln {

struct FinalsOptions {
  std::size_t min_rounds = 8;  ///< fewer give no interval at 99% confidence (tuner/verdict.hpp)
  std::size_t max_rounds = 50;
  double max_ns = 2e9;  ///< time spent on all rounds; min_rounds go before it
};

struct MeasureOptions {
  /// Flush the last-level cache before each sample. Turn it off for kernels whose callers have just
  /// written their inputs.
  bool cold_cache = true;
  /// Drop configs that are clearly slower than the incumbent. Not where time is not what counts.
  bool race = true;
  bool energy = false;        ///< measure the energy of a run too; the device must have a meter
  double energy_ns = 0.25e9;  ///< time of the runs between two readings of the meter
  double warm_up_ns = 0.2e9;  ///< once a device worker: brings clocks up before anything is timed
  StopOptions stop;
};

}  // namespace kiln
