// Trial: one config put through render, compile, verify and measure.
//
// A new field is written in its struct and in the list below it, and nowhere else: JSON,
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

KILN_FIELDS(TrialCost, render_ns, compile_ns, verify_ns, measure_ns);

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

KILN_FIELDS(Samples, ns, cold_cache, batch, clock_khz_before, clock_khz_after, memory_clock_khz,
            temperature_c, power_mw, throttled, throttle, dropped_early, first_run_ns);

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

KILN_FIELDS(Trial, config, outcome, message, time_ns, samples, cost, max_error, registers,
            spill_bytes, shared_bytes, metrics, source_key);

}  // namespace kiln
