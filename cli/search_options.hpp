// The options that say how a session searches and measures; shared by `tune` and `sweep`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cli/command.hpp"
#include "core/spec.hpp"
#include "spec/plan.hpp"
#include "tuner/session/patience.hpp"
#include "tuner/session/session.hpp"

namespace kiln::cli {

/// A session without any budget gets this one.
inline constexpr double kDefaultSeconds = 60;

struct SearchOptions {
  SearchSettings settings;  ///< what the command line said; over what a plan says
  bool warm_cache = false;
  bool fresh = false;
  std::size_t warm_configs = kWarmConfigs;
  std::string against;  ///< a vendor's library; empty: none
  bool quiet = false;
  double compile_seconds = 60;
  std::optional<double> first_run_seconds;  ///< empty: as DeviceDeadlines has it
  std::size_t compile_workers = 0;          ///< 0: as many as suit the machine
  std::int64_t patience = 0;                ///< seconds that the device, or room, may be missing
};

/// The options of budget and search: what a plan may say as well.
void add_setting_options(CLI::App& command, SearchSettings& settings);

/// --timing eager|graph.
void add_timing_option(CLI::App& command, std::optional<Timing>& timing);

/// All of them. `patience`: the default of that option, seconds.
void add_search_options(CLI::App& command, SearchOptions& options, std::int64_t patience);

/// What `over` says, over what `under` says.
[[nodiscard]] SearchSettings merge(const SearchSettings& over, const SearchSettings& under);

/// Throws InputError for a strategy, an objective or a variant of `spec` that does not exist:
/// before any device is opened, since a sweep may come to it only after hours.
void check_names(const SearchSettings& settings, const KernelSpec& spec);

/// Opens the database for sessions, patiently, with a warning on stderr.
[[nodiscard]] Store open_store(const CommonOptions& common, const SearchOptions& options);

/// How long a session waits for what is missing.
[[nodiscard]] Patience patience_of(const SearchOptions& options);

/// TuneOptions for a session; signals end it (cli/interrupt.hpp).
[[nodiscard]] TuneOptions tune_options(const SearchOptions& options,
                                       const SearchSettings& settings);

}  // namespace kiln::cli
