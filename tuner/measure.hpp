// Measurer: the protocol by which samples are taken. When to stop is tuner/stop_rule.hpp's
// business.
//
// One sample is the time between two events around all steps. What a sample needs is enqueued while
// the flush before it runs, so the host's launch cost stays hidden; the next is enqueued when it is
// over, because a queue with work behind a short run slows the run. docs/measurement.md tells it
// all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.hpp"
#include "core/trial.hpp"
#include "tuner/guarded_buffer.hpp"
#include "tuner/launch_sequence.hpp"
#include "tuner/measure_options.hpp"

namespace kiln {

class Measurer {
 public:
  /// `device` must outlive it.
  Measurer(Device& device, const MeasureOptions& options);

  /// Runs the config until the device has been busy for options.warm_up_ns; only the first call
  /// does anything.
  [[nodiscard]] Status warm_device(const LaunchSequence& sequence);

  /// Nanoseconds of one warm run: some untimed runs, then a timed one.
  [[nodiscard]] Result<double> estimate(const LaunchSequence& sequence);

  /// What the first runs after a config's first check say.
  struct FirstLook {
    double run_ns = 0;              ///< about one run
    Samples samples;                ///< those taken; measure() goes on with them
    bool hopeless = false;          ///< clearly slower than the incumbent: these are all there are
    std::int64_t untimed_runs = 0;  ///< runs that became no sample
  };
  /// A sample or two: enough to call a config hopeless that is far off. One sample does so only
  /// where the first check, which took `check_ns` on the device, was slower, too. Without a race,
  /// or while there is no incumbent (`incumbent_ns`: the best median so far, 0: none), an estimate.
  [[nodiscard]] Result<FirstLook> first_look(const LaunchSequence& sequence, double check_ns,
                                             double incumbent_ns);

  /// All samples of a config that is not hopeless, those of the first look included.
  [[nodiscard]] Result<Samples> measure(const LaunchSequence& sequence, FirstLook look,
                                        double incumbent_ns);

  /// Joules of one run, from runs back to back (so with a warm cache) between two steps of the
  /// device's meter.
  [[nodiscard]] Result<double> measure_energy(const LaunchSequence& sequence, double estimate_ns);

  struct Rounds {
    std::vector<std::vector<double>> ns;        ///< [config][round], of one run
    std::vector<std::vector<double>> energy_j;  ///< the same, joules; empty unless options.energy
  };
  /// Runs all in turn, round after round. A round of short runs goes forth and back (ABC CBA), and
  /// each value is the mean of two runs: on some GPUs every second run of a kernel of some
  /// microseconds is slower by several per cent, which would count for half of the configs.
  [[nodiscard]] Result<Rounds> measure_in_turn(std::span<const LaunchSequence* const> sequences,
                                               const FinalsOptions& finals);

 private:
  /// A sample: the time of `batch` runs after one flush, divided by `batch`. `state`: how the
  /// device runs meanwhile; nullptr: not asked.
  [[nodiscard]] Result<double> take(const LaunchSequence& sequence, std::int64_t batch,
                                    Device::ClockState* state);
  [[nodiscard]] Result<double> run_until_step(const LaunchSequence& sequence, std::int64_t chunk,
                                              double min_ns, std::int64_t& runs);
  [[nodiscard]] bool races(double incumbent_ns) const { return options_.race && incumbent_ns > 0; }
  [[nodiscard]] std::size_t next_samples(std::size_t taken, double incumbent_ns) const;
  [[nodiscard]] std::int64_t batch_for(double estimate_ns) const;
  /// Writes through the last-level cache, so that nothing of the arguments is left in it.
  [[nodiscard]] Status flush();

  Device& device_;
  MeasureOptions options_;
  OwnedBuffer flushed_;  ///< allocated by the first flush
  std::uint8_t flush_byte_ = 0;
  bool device_is_warm_ = false;
};

}  // namespace kiln
