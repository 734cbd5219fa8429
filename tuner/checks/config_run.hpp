// ConfigRun: one config's binary and launch plan, loaded and bound to the arguments of the problem.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "tuner/checks/expected.hpp"
#include "tuner/checks/launch_sequence.hpp"
#include "tuner/checks/problem_data.hpp"

namespace kiln {

/// The environment of a problem's configs. All members must outlive the ConfigRuns that use them.
struct Bench {
  Device& device;
  Toolbox& toolbox;
  ProblemData& data;
  Workspaces& workspaces;
};

class ConfigRun {
 public:
  /// Loads the binary and allocates the workspaces. Workspaces are shared, so only the newest
  /// ConfigRun of a bench may run. Fails with launch_error or out_of_memory.
  static Result<ConfigRun> load(const Bench& bench, const LaunchPlan& plan, const Binary& binary);
  /// The same binary bound to the arguments of another problem; `plan`: the config's plan for that
  /// problem. Only the newest ConfigRun of a bench may run.
  [[nodiscard]] Result<ConfigRun> rebound(const Bench& bench, const LaunchPlan& plan) const;
  /// Waits until the queue is empty: code must not be unloaded while it runs.
  ~ConfigRun();
  ConfigRun(ConfigRun&&) = default;

  [[nodiscard]] const LaunchSequence& sequence(InputSet set) const {
    return set == InputSet::timing ? timing_ : verify_;  // `altered` is where `verify` is
  }

  /// Restores inputs and poisons outputs and workspaces. Runs nothing.
  [[nodiscard]] Status prepare(InputSet set);
  /// The same for timed runs, whose inputs ProblemData::stir() may have changed.
  [[nodiscard]] Status prepare_timing();
  /// Prepares, poisons shared memory, runs once and waits for the end.
  [[nodiscard]] Status run_once(InputSet set);
  /// Returns the device time of the last run_once() or run_checked(), in nanoseconds. The first run
  /// is cold.
  [[nodiscard]] double last_run_ns() const { return last_run_ns_; }

  /// Call it after unchecked runs. Returns Failure{wrong_result} if red zones, read-only inputs or
  /// zeroed workspaces have changed. Otherwise the next config would be blamed for the change.
  [[nodiscard]] Status inspect(InputSet set);

  /// Runs once, then checks that outputs are as expected and that red zones and read-only inputs
  /// are unchanged. A wrong result is a Failure{wrong_result}. Returns the largest error, relative
  /// to the allowed one.
  [[nodiscard]] Result<double> run_checked(InputSet set, const ExpectedOutputs& expected);
  /// The same over outputs and workspaces as the run before has left them.
  [[nodiscard]] Result<double> run_again(InputSet set, const ExpectedOutputs& expected);

 private:
  /// `static_shared_bytes`: per block, as the compiler reported; negative if it did not.
  ConfigRun(const Bench& bench, const LaunchPlan& plan, std::shared_ptr<Module> module,
            std::int64_t static_shared_bytes);
  /// Tells NaNs that were written from those that were there before.
  [[nodiscard]] Status run_over_other_poison(InputSet set, const ExpectedOutputs& expected);
  /// Enqueues the steps and waits for the end.
  [[nodiscard]] Status run_steps(InputSet set);
  /// Compares, and inspects red zones and read-only inputs.
  [[nodiscard]] Result<ExpectedOutputs::Check> check(InputSet set, const ExpectedOutputs& expected);
  /// Describes what is wrong around the outputs; empty if nothing is.
  [[nodiscard]] Result<std::string> damage(InputSet set);

  Bench bench_;
  std::shared_ptr<Module> module_;
  std::int64_t static_shared_bytes_;
  std::int64_t shared_bytes_;  ///< per block, the largest of all steps
  LaunchSequence verify_;
  LaunchSequence timing_;
  double last_run_ns_ = 0;
};

}  // namespace kiln
