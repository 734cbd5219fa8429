// The fields of a trial, each named once. JSON, messages between processes and tests walk over
// them, so a new field of Samples, TrialCost or Trial is written here and in its struct, nowhere
// else. Columns of the database are its schema's (db/schema.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include "core/trial.hpp"

namespace kiln {

/// `T`, const or not.
template <typename T, typename Struct>
concept IsA = std::same_as<std::remove_const_t<T>, Struct>;

/// Calls `visit(name, field)` for each field, in the order of their JSON.
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
}

template <IsA<TrialCost> T, typename Visit>
void visit_fields(T& cost, Visit&& visit) {
  visit("render_ns", cost.render_ns);
  visit("compile_ns", cost.compile_ns);
  visit("verify_ns", cost.verify_ns);
  visit("measure_ns", cost.measure_ns);
}

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
