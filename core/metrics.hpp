// Objectives and metrics: the number that a session makes small or large.
//
// "time" is measured by every session. "energy" comes from the meter of an NVIDIA GPU. Any other
// name is a metric of the spec: an expression over the config and its measurements
// (docs/spec_verify.md). All are compared as scores: positive, smaller is better.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/setting.hpp"
#include "core/trial.hpp"

namespace kiln {

inline constexpr std::string_view kTimeObjective = "time";      ///< nanoseconds of one run
inline constexpr std::string_view kEnergyObjective = "energy";  ///< joules of one run

/// The names that metrics may use beside those of constraints: measured.time_ns, cost.bytes, ...
[[nodiscard]] const std::vector<std::string>& measured_names();

/// What a session looks for.
struct Objective {
  std::string name = std::string(kTimeObjective);
  Goal goal = Goal::minimise;
  std::string unit = "ns";
  bool needs_energy = false;  ///< it cannot be told without the meter

  [[nodiscard]] bool is_time() const { return name == kTimeObjective; }
  /// `value` as a positive number of which less is better; the order is that of the goal.
  [[nodiscard]] double score(double value) const;
  /// The value that has this score.
  [[nodiscard]] double value(double score) const;
};

/// Throws InputError naming what `spec` has, when there is no such objective.
[[nodiscard]] Objective find_objective(const KernelSpec& spec, std::string_view name);

/// Values of one spec's metrics for configs of one problem on one device.
class Metrics {
 public:
  explicit Metrics(Setting setting);

  /// Every metric that has a value for this trial (a number of 0 or more), by name, and "energy"
  /// where `trial.metrics` holds it. Empty unless the trial is ok.
  [[nodiscard]] std::map<std::string, double> of(const Trial& trial) const;

  /// The objective's value for this trial; nullopt: it has none.
  [[nodiscard]] std::optional<double> value(const Objective& objective, const Trial& trial) const;

 private:
  /// What a metric may name; nullopt if the spec cannot evaluate the config.
  [[nodiscard]] std::optional<Scope> scope_of(const Trial& trial) const;

  Setting setting_;
  ProblemCost cost_;
};

}  // namespace kiln
