// Compares given configs of one problem: the finals of a session without its search.
//
// All configs run in one process on one device, in turn, round after round. So their times can be
// compared, unlike medians of different sessions. With copies of one config, it also counts how
// often the rule of the finals reports a difference where there is none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "core/spec.hpp"
#include "db/store.hpp"
#include "tuner/rules/measure_options.hpp"
#include "tuner/workers/device_client.hpp"
#include "tuner/workers/worker_host.hpp"

namespace kiln {

struct ComparisonOptions {
  MeasureOptions measure;
  FinalsOptions rounds;
  std::size_t finals = 1;           ///< number of repetitions
  std::uint64_t seed = 1;           ///< of the inputs
  double max_cpu_operations = 3e7;  ///< as in TuneOptions
  std::size_t compile_workers = 1;
  std::chrono::milliseconds compile_deadline{60000};
  DeviceDeadlines deadlines;
  std::filesystem::path worker_program;     ///< empty: this program
  const std::atomic<bool>* stop = nullptr;  ///< set it to end after the current finals
};

struct ComparisonRequest {
  const KernelSpec& spec;  ///< with its files
  Problem problem;
  std::string backend;
  int ordinal = 0;
  std::vector<Config> configs;  ///< a config may appear more than once
  ComparisonOptions options;
};

struct Comparison {
  DeviceInfo device;
  /// [finals][config][round], nanoseconds; fewer finals than requested if it was stopped.
  std::vector<std::vector<std::vector<double>>> samples;
  /// Per config: why its result was wrong; empty if it was right in all finals.
  std::vector<std::string> wrong;
};

/// The request as a device worker gets it, without other sizes.
[[nodiscard]] ProblemJob comparison_job(const ComparisonRequest& request);

/// The request's device, opened in a worker of its own. Throws UsageError, InputError or
/// DeviceError if it is not there, cannot time as requested or cannot hold the problem.
struct ComparedDevice {
  explicit ComparedDevice(const ComparisonRequest& request);

  WorkerHost host;
  DeviceClient client;
  DeviceInfo info;
};

/// Throws UsageError, InputError or DeviceError if the run must end, and Error (exit code 1) if a
/// config cannot be compiled or run.
[[nodiscard]] Comparison compare(const ComparisonRequest& request);

/// The verdict of the finals for a pair: the second config against the first, as if the first were
/// the default config.
struct PairVerdicts {
  std::size_t better = 0;
  std::size_t tie = 0;
  std::size_t unmeasurable = 0;

  [[nodiscard]] std::size_t pairs() const { return better + tie + unmeasurable; }
};

/// Counts over all ordered pairs of `samples[config][round]`.
[[nodiscard]] PairVerdicts count_pairs(const std::vector<std::vector<double>>& samples);

}  // namespace kiln
