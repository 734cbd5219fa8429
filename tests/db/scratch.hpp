// Invented records and scratch folders for the tests of db/, lookup/ and wisdom/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "db/store.hpp"
#include "tests/support/scratch_folder.hpp"

namespace kiln::test {

inline DeviceInfo some_device() {
  DeviceInfo device;
  device.backend = "cuda";
  device.name = "Test GPU";
  device.vendor = "nvidia";
  device.architecture = "sm_90a";
  device.driver = "580.10";
  device.compiler = "nvrtc 13.0";
  device.compute_units = 132;
  device.compute_capability = 90;
  device.warp_size = 32;
  device.max_threads_per_block = 1024;
  device.max_block = {1024, 1024, 64};
  device.max_shared_bytes = 49152;
  device.has_f64 = true;
  return device;
}

inline SessionRecord some_session(const std::string& problem = "n=1000") {
  SessionRecord record;
  record.key = {
      .kernel = "scale",
      .spec_hash = "00000000000000aa",
      .problem = problem,
      .device = identity_of(some_device()),
      .driver = some_device().driver,
      .compiler = some_device().compiler,
      .tool_version = "0.1.0",
      .strategy = "random",
      .seed = 18446744073709551615ULL,  // the largest seed must survive SQLite's signed integers
      .options = "cache=cold"};
  record.device_info = some_device();
  record.problem_json = R"({"n":1000})";
  record.budget = "seconds=60 trials=200";
  record.space_size = 12;
  return record;
}

/// A trial of `variant` with one tunable, so that every sequence number can have its own config.
inline Trial some_trial(std::int64_t block_size, Outcome outcome = Outcome::ok) {
  Trial trial;
  trial.config = {.variant = "vector", .values = {{"block_size", block_size}}};
  trial.outcome = outcome;
  if (outcome != Outcome::ok) {
    trial.message = "why not: " + std::string(name_of(outcome));
    return trial;
  }
  trial.time_ns = 1234.5;
  trial.samples = {.ns = {1230.25, 1234.5, 1250},
                   .cold_cache = false,
                   .batch = 8,
                   .clock_khz_before = 1980000,
                   .clock_khz_after = 1755000,
                   .throttled = true,
                   .dropped_early = true};
  trial.cost = {.render_ns = 1, .compile_ns = 2, .verify_ns = 3, .measure_ns = 4};
  trial.max_error = 0.125;
  trial.registers = 40;
  trial.spill_bytes = 0;
  trial.shared_bytes = 4096;
  trial.source_key = "0123456789abcdef0123456789abcdef";
  return trial;
}

inline BestRecord some_best(std::int64_t block_size = 256) {
  BestRecord best;
  best.config = some_trial(block_size).config;
  best.template_hash = "00000000000000bb";
  best.time_ns = 1000;
  best.default_time_ns = 1500;
  best.verdict = Verdict::better;
  best.bytes = 8000;
  best.flops = 1000;
  best.trials = 3;
  best.failures = 1;
  best.evidence = R"({"finalists":[]})";
  return best;
}

}  // namespace kiln::test
