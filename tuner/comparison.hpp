// Comparing given configs of one problem: the finals of a session without its search.
//
// All run in one process on one device, in turn, round after round, so that their times compare as
// medians of different sessions do not. With copies of one config it also tells how often the rule
// of the finals calls a difference where there is none.
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
#include "tuner/device_client.hpp"
#include "tuner/measure_options.hpp"

namespace kiln {

struct ComparisonOptions {
  MeasureOptions measure;
  FinalsOptions rounds;
  std::size_t finals = 1;           ///< how often all of it is done
  std::uint64_t seed = 1;           ///< of the inputs
  double max_cpu_operations = 3e7;  ///< as in TuneOptions
  std::size_t compile_workers = 1;
  std::chrono::milliseconds compile_deadline{60000};
  DeviceDeadlines deadlines;
  std::filesystem::path worker_program;     ///< empty: this program
  const std::atomic<bool>* stop = nullptr;  ///< set it to end after the finals in hand
};

struct ComparisonRequest {
  const KernelSpec& spec;  ///< with its files
  Problem problem;
  std::string backend;
  int ordinal = 0;
  std::vector<Config> configs;  ///< one may stand more than once
  ComparisonOptions options;
};

struct Comparison {
  DeviceInfo device;
  /// [finals][config][round], nanoseconds; fewer finals than were asked for when it was stopped.
  std::vector<std::vector<std::vector<double>>> samples;
  /// One a config: why its result was wrong; empty where it was right in all finals.
  std::vector<std::string> wrong;
};

/// Throws UsageError, InputError or DeviceError for what ends a run, and Error (exit code 1) when a
/// config cannot be compiled or run.
[[nodiscard]] Comparison compare(const ComparisonRequest& request);

/// What the rule of the finals says of each pair: `verdict` of the second against the first, as if
/// the first were the default config.
struct PairVerdicts {
  std::size_t better = 0;
  std::size_t tie = 0;
  std::size_t unmeasurable = 0;

  [[nodiscard]] std::size_t pairs() const { return better + tie + unmeasurable; }
};

/// Counts over all ordered pairs of `samples[config][round]`.
[[nodiscard]] PairVerdicts count_pairs(const std::vector<std::vector<double>>& samples);

}  // namespace kiln
