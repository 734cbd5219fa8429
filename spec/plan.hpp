// SweepPlan: many sessions from one file. docs/cli.md shows one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/timing.hpp"

namespace kiln {

/// How long and how a session searches; what a plan leaves out is taken from its [defaults], then
/// from Kiln's.
struct SearchSettings {
  std::optional<double> seconds;            ///< wall time of the session
  std::optional<std::int64_t> trials;       ///< trials of the session
  std::optional<std::int64_t> no_progress;  ///< trials without a better config
  std::optional<double> target;             ///< speed-up over the default config, above 1
  std::optional<std::string> strategy;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> objective;  ///< "time", "energy" or a metric of the spec
  std::vector<std::string> variants;     ///< only these; empty: all
  std::optional<Timing> timing;
  /// Where a plan names its strategy, objective and variants, by these words.
  std::map<std::string, SourceLocation> places = {};
};

/// One session to run.
struct PlannedSession {
  std::string kernel;   ///< name of a kernel, or a path as written (relative to the plan's folder)
  std::string problem;  ///< text for Problem::parse
  SearchSettings settings;
  SourceLocation where;         ///< of the problem in the plan, for messages
  SourceLocation kernel_where;  ///< of the kernel's name
};

struct SweepPlan {
  std::string name;
  std::string path;
  std::vector<PlannedSession> sessions;  ///< in the order of the file
};

/// Throws InputError with file:line:column for malformed TOML, unknown keys and wrong types.
/// Kernels and problems are checked when they are loaded, with `where`.
[[nodiscard]] SweepPlan parse_plan(const std::string& text, const std::string& path);

}  // namespace kiln
