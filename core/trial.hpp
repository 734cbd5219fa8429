// Trial: one config put through render, compile, verify and measure.
//
// A new field is written in its struct and in visit_fields() below it, and nowhere else: JSON,
// messages between processes and the database walk over the fields, and scripts/update_schemas
// writes its comment into the schema of trials.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/fields.hpp"
#include "core/outcome.hpp"

namespace kiln {

/// What each stage of the trial took.
struct TrialCost {
  std::int64_t render_ns = 0;   ///< rendering, in nanoseconds of wall time
  std::int64_t compile_ns = 0;  ///< compiling, in nanoseconds of wall time
  std::int64_t verify_ns = 0;   ///< checking, in nanoseconds of wall time
  std::int64_t measure_ns = 0;  ///< measuring, in nanoseconds of wall time
};

template <IsA<TrialCost> T, typename Visit>
void visit_fields(T& cost, Visit&& visit) {
  visit("render_ns", cost.render_ns);
  visit("compile_ns", cost.compile_ns);
  visit("verify_ns", cost.verify_ns);
  visit("measure_ns", cost.measure_ns);
}

/// Samples::throttle where nothing is known.
inline constexpr const char* kThrottleUnknown = "unknown";

/// How the samples were taken.
struct Samples {
  std::vector<double> ns;             ///< times of one run of all steps, in the order taken
  bool cold_cache = true;             ///< the last-level cache was flushed before each sample
  std::int64_t batch = 1;             ///< runs per sample; the sample is their mean
  std::int64_t clock_khz_before = 0;  ///< clock before, in kHz; 0: not known
  std::int64_t clock_khz_after = 0;   ///< clock after, in kHz; 0: not known
  std::int64_t memory_clock_khz = 0;  ///< memory clock after, in kHz; 0: not known
  std::int64_t temperature_c = 0;     ///< chip after, in degrees Celsius; 0: not known
  std::int64_t power_mw = 0;          ///< power of the board after, in milliwatts; 0: not known
  bool throttled = false;             ///< the clock was held back
  /// Why the clock was held back: words such as "power_cap,heat", or "none"; "unknown" if the
  /// driver does not report it.
  std::string throttle = kThrottleUnknown;
  /// Clearly slower than the fastest config so far: few samples on purpose.
  bool dropped_early = false;
  /// Time of the config's first run, in its first check, in nanoseconds: what a single launch
  /// costs; 0: not known.
  double first_run_ns = 0;
};

template <IsA<Samples> T, typename Visit>
void visit_fields(T& samples, Visit&& visit) {
  visit("ns", samples.ns);
  visit("cold_cache", samples.cold_cache);
  visit("batch", samples.batch);
  visit("clock_khz_before", samples.clock_khz_before);
  visit("clock_khz_after", samples.clock_khz_after);
  visit("memory_clock_khz", samples.memory_clock_khz);
  visit("temperature_c", samples.temperature_c);
  visit("power_mw", samples.power_mw);
  visit("throttled", samples.throttled);
  visit("throttle", samples.throttle);
  visit("dropped_early", samples.dropped_early);
  visit("first_run_ns", samples.first_run_ns);
}

struct Trial {
  Config config;                   ///< the config that was tried
  Outcome outcome = Outcome::ok;   ///< what became of it
  std::string message;             ///< why it was not ok; empty: it was
  double time_ns = 0;              ///< median of the samples, in nanoseconds; 0 unless ok
  Samples samples;                 ///< how it was measured
  TrialCost cost;                  ///< what the trial took
  double max_error = 0;            ///< largest error found, relative to the allowed one
  std::int64_t registers = -1;     ///< registers of a thread; -1: not known
  std::int64_t spill_bytes = -1;   ///< spilled bytes of a thread; -1: not known
  std::int64_t shared_bytes = -1;  ///< shared memory of a block, in bytes; -1: not known
  /// Values of the spec's metrics by name, and "energy" (joules of one run) if it was measured.
  std::map<std::string, double> metrics;
  std::string source_key;  ///< hash of the rendered source; equal sources were compiled once

  [[nodiscard]] bool ok() const { return outcome == Outcome::ok; }
};

template <IsA<Trial> T, typename Visit>
void visit_fields(T& trial, Visit&& visit) {
  visit("config", trial.config);
  visit("outcome", trial.outcome);
  visit("message", trial.message);
  visit("time_ns", trial.time_ns);
  visit("samples", trial.samples);
  visit("cost", trial.cost);
  visit("max_error", trial.max_error);
  visit("registers", trial.registers);
  visit("spill_bytes", trial.spill_bytes);
  visit("shared_bytes", trial.shared_bytes);
  visit("metrics", trial.metrics);
  visit("source_key", trial.source_key);
}

}  // namespace kiln
