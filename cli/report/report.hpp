// The parts of `kiln report`: which sessions, what is paired, the numbers as JSON and the texts as
// HTML. Private to the command; report/page.hpp makes the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/show/show.hpp"

namespace kiln::cli {

/// A limit of the device.
struct ReportedCeiling {
  std::string name;  ///< with its value: "memory by clock and bus: 3.35 TB/s"
  std::string kind;  ///< "memory" or "compute"
  double per_s = 0;  ///< bytes or operations per second
};

struct ReportedSession {
  ShownSession shown;
  std::filesystem::path database;
  std::size_t side = 0;    ///< of two that are compared: index into Report::sides
  bool has_trials = true;  ///< the page gets its trials; false: too many in all
  std::optional<ReportedCeiling> arithmetic = {};
};

/// One config that both sessions of a pair tried and that was ok in both.
struct CommonConfig {
  std::string config;
  double a_ns = 0;
  double b_ns = 0;
};

/// Two sessions of one kernel and problem.
struct ReportedPair {
  std::size_t a = 0;  ///< indices into Report::sessions
  std::size_t b = 0;
  double ratio = 1;  ///< best time of b divided by that of a
  /// Bounds of the ratio from the intervals of both finals; nullopt: one of them has none.
  std::optional<double> low{};
  std::optional<double> high{};
  std::string faster{};  ///< name of a side, "neither", or "not known" without bounds
  bool same_config = false;
  std::vector<CommonConfig> common{};
};

struct Report {
  std::string title;
  std::vector<ReportedSession> sessions;
  std::vector<std::string> sides;   ///< names of the two that are compared; empty: none are
  bool sides_are_sessions = false;  ///< two sessions are compared: a side has one
  std::vector<ReportedPair> pairs;
  std::vector<ReportedCeiling> measured;  ///< from --ceilings
};

/// Pairs the sessions of side 0 with those of side 1 that have the same kernel and problem, the
/// newest with a best of each.
void pair_sessions(Report& report);

/// Makes two sides of the sessions of one database if they were run with two drivers or more: the
/// two newest drivers. Leaves the report as it is otherwise.
void split_by_driver(Report& report);

/// "memory by clock and bus: 3.35 TB/s" of what, kind and bytes or operations per second.
[[nodiscard]] ReportedCeiling ceiling_of(const std::string& what, const std::string& kind,
                                         double per_s);

/// The arithmetic limit of the units that the session's best uses; nullopt: not known.
[[nodiscard]] std::optional<ReportedCeiling> arithmetic_roof(const KernelLibrary& library,
                                                             const ShownSession& shown);

/// Measured ceilings from the output of `kiln sweep --ceilings --json`. Throws InputError.
[[nodiscard]] std::vector<ReportedCeiling> read_ceilings(const std::filesystem::path& path);

/// Trials as columns: "variants", "outcomes", "tunables" with their values, and "rows", whose
/// numbers are places in these lists, or nanoseconds; "spread": times of each value of a tunable.
[[nodiscard]] Json trial_columns_json(const std::vector<TrialRecord>& trials);

/// Everything that the plots show.
[[nodiscard]] Json report_json(const Report& report);

/// Above the plots: the answer of a session, or a table of all.
[[nodiscard]] std::string answer_html(const Report& report);

/// Below the plots: finals, failures, environment and commands of each session.
[[nodiscard]] std::string details_html(const Report& report);

/// "kernel problem".
[[nodiscard]] std::string name_of(const ReportedSession& session);

/// "3: kernel problem", after the name of its side where that is a database or a driver.
[[nodiscard]] std::string label_of(const Report& report, const ReportedSession& session);

}  // namespace kiln::cli
