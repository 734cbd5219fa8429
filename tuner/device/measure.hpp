// Measurer: the protocol that takes samples. tuner/rules/stop_rule.hpp decides when to stop.
//
// One sample is the time between two events around all steps. The launches of a sample are enqueued
// while the flush before it runs, so the host's launch cost is not part of the sample. The next
// sample is enqueued when this one is over, because work queued behind a short run slows the run.
// With Timing::graph, a sample is the replay of a graph of captured runs. docs/measurement.md has
// the rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.hpp"
#include "core/trial.hpp"
#include "tuner/checks/guarded_buffer.hpp"
#include "tuner/checks/launch_sequence.hpp"
#include "tuner/rules/measure_options.hpp"

namespace kiln {

class Measurer {
 public:
  /// `device` must outlive it.
  Measurer(Device& device, const MeasureOptions& options);

  /// `stir` runs before each sample and changes the inputs: at most `most_bytes` of each.
  void set_stir(std::function<Status(std::size_t most_bytes)> stir) { stir_ = std::move(stir); }

  /// Runs the config until the device has been busy for options.warm_up_ns; only the first call
  /// does anything.
  /// `just_ran_ns`: how long it has just been busy.
  [[nodiscard]] Status warm_device(const DeviceWork& work, double just_ran_ns = 0);

  /// Returns the time of one warm run in nanoseconds: some untimed runs, then a timed one.
  [[nodiscard]] Result<double> estimate(const DeviceWork& work);

  /// The runs of one sample, ready to be repeated. Refers to the sequence and the device.
  struct SampleRuns {
    std::int64_t batch = 0;  ///< runs per sample; 0: not made yet
    /// Timing::graph: the runs, each behind a flush if the cache is cold.
    std::shared_ptr<CapturedGraph> graph;
    CapturedGraph* flushes = nullptr;  ///< the same number of flushes alone; of the Measurer
  };

  /// The result of the first runs after a config's first check.
  struct FirstLook {
    double run_ns = 0;  ///< estimated time of one run
    Samples samples;    ///< the samples so far; measure() adds to them
    /// Clearly slower than the incumbent: no more samples are taken.
    bool hopeless = false;
    std::int64_t untimed_runs = 0;  ///< runs that are not samples
    SampleRuns runs;
  };
  /// Takes one or two samples: enough to drop a config that is far slower than the incumbent. One
  /// sample is enough only if the first check, which took `check_ns` on the device, was also
  /// slower. Without a race or an incumbent, it only estimates the time of a run. `incumbent_ns`:
  /// the best median so far, 0: none.
  [[nodiscard]] Result<FirstLook> first_look(const DeviceWork& work, double check_ns,
                                             double incumbent_ns);

  /// Takes all samples of a config that is not hopeless. The result includes those of the first
  /// look.
  [[nodiscard]] Result<Samples> measure(const DeviceWork& work, FirstLook look,
                                        double incumbent_ns);

  /// Returns the energy of one run in joules, from runs without a pause (so with a warm cache)
  /// between two steps of the device's meter.
  [[nodiscard]] Result<double> measure_energy(const DeviceWork& work, double estimate_ns);

  struct Rounds {
    std::vector<std::vector<double>> ns;        ///< [config][round], of one run
    std::vector<std::vector<double>> energy_j;  ///< the same, joules; empty unless options.energy
  };
  /// Runs all in turn, round after round. A round of short runs goes forth and back (ABC CBA), and
  /// each value is the mean of two runs: on some GPUs every second run of a kernel of some
  /// microseconds is slower by several per cent, which would count for half of the configs.
  [[nodiscard]] Result<Rounds> measure_in_turn(std::span<const DeviceWork* const> works,
                                               const FinalsOptions& finals);

 private:
  /// Captures the runs of a sample if they are replayed as a graph.
  [[nodiscard]] Result<SampleRuns> ready(const DeviceWork& work, double estimate_ns);
  /// Takes a sample: the time of the batch after one flush, divided by the batch. `state`: receives
  /// how the device runs meanwhile; nullptr: not needed.
  [[nodiscard]] Result<double> take(const DeviceWork& work, const SampleRuns& runs,
                                    Device::ClockState* state);
  [[nodiscard]] Result<double> take_replay(const SampleRuns& runs, Device::ClockState* state);
  [[nodiscard]] Result<CapturedGraph*> flushes_of(std::int64_t batch);
  [[nodiscard]] Status allocate_flushed();
  [[nodiscard]] Result<double> run_until_step(const DeviceWork& work, std::int64_t chunk,
                                              double min_ns, std::int64_t& runs);
  [[nodiscard]] bool races(double incumbent_ns) const { return options_.race && incumbent_ns > 0; }
  [[nodiscard]] std::size_t next_samples(std::size_t taken, double incumbent_ns) const;
  [[nodiscard]] std::int64_t batch_for(double estimate_ns) const;
  /// Overwrites the last-level cache, so that it holds nothing of the arguments.
  [[nodiscard]] Status flush();

  Device& device_;
  MeasureOptions options_;
  std::function<Status(std::size_t)> stir_;
  OwnedBuffer flushed_;  ///< allocated by the first flush
  std::map<std::int64_t, std::unique_ptr<CapturedGraph>> flushes_;  ///< by their number
  std::uint8_t flush_byte_ = 0;
  bool device_is_warm_ = false;
};

}  // namespace kiln
