// ConfigRun: one config's binary and launch plan, loaded and bound to the arguments of the problem.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "tuner/expected.hpp"
#include "tuner/launch_sequence.hpp"
#include "tuner/problem_data.hpp"

namespace kiln {

/// Where configs of one problem run. All must outlive the ConfigRuns made over it.
struct Bench {
  Device& device;
  Toolbox& toolbox;
  ProblemData& data;
  Workspaces& workspaces;
};

class ConfigRun {
 public:
  /// Loads the binary and makes room for the workspaces. Only the last one made over a bench may
  /// run: workspaces are shared. Fails with launch_error or out_of_memory.
  static Result<ConfigRun> load(const Bench& bench, const LaunchPlan& plan, const Binary& binary);
  /// The same binary bound to the arguments of another problem; `plan` is the config's plan for
  /// that one. Only the last one made over a bench may run.
  [[nodiscard]] Result<ConfigRun> rebound(const Bench& bench, const LaunchPlan& plan) const;
  /// Waits for the queue to run dry: code must not be unloaded while it runs.
  ~ConfigRun();
  ConfigRun(ConfigRun&&) = default;

  [[nodiscard]] const LaunchSequence& sequence(InputSet set) const {
    return set == InputSet::verify ? verify_ : timing_;
  }

  /// Fresh inputs, poisoned outputs and workspaces; nothing runs yet.
  [[nodiscard]] Status prepare(InputSet set);
  /// prepare, poison what shared memory holds, then one run; waits for its end.
  [[nodiscard]] Status run_once(InputSet set);
  /// Nanoseconds of the last run_once or run_checked on the device. The first one is cold.
  [[nodiscard]] double last_run_ns() const { return last_run_ns_; }

  /// After runs that nobody checks: red zones, read-only inputs and zeroed workspaces must be as
  /// they were, or the next config would be blamed for it. Failure{wrong_result} where they are
  /// not.
  [[nodiscard]] Status inspect(InputSet set);

  /// run_once, then everything that must hold: outputs as expected, red zones and read-only inputs
  /// untouched. A result that is wrong in any way is a Failure{wrong_result}. Returns the largest
  /// error, relative to the allowed one.
  [[nodiscard]] Result<double> run_checked(InputSet set, const Expected& expected);

 private:
  /// `static_shared_bytes` of a block, as the compiler told; negative: it did not.
  ConfigRun(const Bench& bench, const LaunchPlan& plan, std::shared_ptr<Module> module,
            std::int64_t static_shared_bytes);
  /// What is wrong around the outputs, in words; empty: nothing.
  [[nodiscard]] Result<std::string> damage(InputSet set);

  Bench bench_;
  std::shared_ptr<Module> module_;
  std::int64_t static_shared_bytes_;
  std::int64_t shared_bytes_;  ///< of a block of any step, at most
  LaunchSequence verify_;
  LaunchSequence timing_;
  double last_run_ns_ = 0;
};

}  // namespace kiln
