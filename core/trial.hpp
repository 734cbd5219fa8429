// Trial: one config put through render, compile, verify and measure.
//
// A new field is written twice here, in its struct and in visit_fields() behind it, and nowhere
// else: JSON, messages between processes and the database walk over the fields.
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

/// What each stage of the trial took, in nanoseconds of wall time.
struct TrialCost {
  std::int64_t render_ns = 0;
  std::int64_t compile_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t measure_ns = 0;
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
  std::vector<double> ns;             ///< time of one run of all steps, in the order taken
  bool cold_cache = true;             ///< last-level cache flushed before each sample
  std::int64_t batch = 1;             ///< runs per sample (the sample is their mean)
  std::int64_t clock_khz_before = 0;  ///< 0: not known
  std::int64_t clock_khz_after = 0;
  std::int64_t memory_clock_khz = 0;  ///< after; 0: not known
  std::int64_t temperature_c = 0;     ///< after, of the chip; 0: not known
  std::int64_t power_mw = 0;          ///< after, of the board; 0: not known
  bool throttled = false;
  /// Why the clock was held back during the samples: words such as "power_cap,heat", "none";
  /// "unknown" where the driver does not tell.
  std::string throttle = kThrottleUnknown;
  bool dropped_early = false;  ///< clearly slower than the incumbent: few samples on purpose
  /// Time of the config's very first run, in its first check: what a single launch pays; 0: not
  /// known.
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
  Config config;
  Outcome outcome = Outcome::ok;
  std::string message;  ///< why not ok; empty for ok
  double time_ns = 0;   ///< median of samples; 0 unless ok
  Samples samples;
  TrialCost cost;
  double max_error = 0;  ///< largest error seen in verification, relative to the allowed one
  std::int64_t registers = -1;
  std::int64_t spill_bytes = -1;
  std::int64_t shared_bytes = -1;
  /// What the spec's metrics give for it, and "energy" (joules of one run) where that was measured.
  std::map<std::string, double> metrics;
  std::string source_key;  ///< binary_key of the rendered source; equal keys shared one compile

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

/// Median of `values` (mean of the middle two); 0 when empty.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace kiln
