// ProblemBench: the shared state of one problem's trials on the device: arguments, references,
// workspaces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/checks/config_run.hpp"
#include "tuner/checks/expected.hpp"
#include "tuner/checks/recorded_arrays.hpp"

namespace kiln {

/// Where the CPU loop (a C function, formulas) is the reference.
struct ReferenceLimits {
  // NOLINTNEXTLINE(google-explicit-constructor): most callers have the first limit only
  ReferenceLimits(double max = 0)
      : max_operations(max), patient_operations(std::max(max, kPatientOperations)) {}
  /// Operations up to which the loop is the reference if the spec names a device reference ...
  double max_operations;
  /// ... and if it does not: seconds of a loop. Beyond, the default config stands in.
  double patient_operations;
  /// Of the smaller problem on which a device reference has to agree with the loop: milliseconds.
  double agreed_operations = 2e6;
  /// Of a device reference: if one run takes longer, one set of inputs serves all checks.
  double long_run_seconds = 2;

 private:
  static constexpr double kPatientOperations = 1e9;
};

class ProblemBench {
 public:
  /// Tools of the worker; must outlive the bench.
  struct Tools {
    Device& device;
    Compiler& compiler;
    Toolbox& toolbox;
    /// Told what is being done, when that may take long; "" when it is done. May be empty.
    std::function<void(const std::string&)> doing = {};
  };

  /// Allocates and fills the arguments and computes the references. Within `limits` the CPU loop
  /// computes them; above, the spec's device reference, after it has agreed with the CPU loop on a
  /// shrunk problem. For a spec that names none, the default config is the device reference.
  /// `scalars`: in place of their examples.
  static Result<std::unique_ptr<ProblemBench>> create(const Tools& tools, const KernelSpec& spec,
                                                      const Problem& problem, std::uint64_t seed,
                                                      const ReferenceLimits& limits,
                                                      VerifyInputs verify = VerifyInputs::filled,
                                                      const ScalarValues& scalars = {});

  /// Sets other inputs, drawn from `seed`, and computes their reference. Only if the CPU loop is
  /// the reference (create() with a sufficient limit).
  [[nodiscard]] Status reseed(std::uint64_t seed);

  /// Computes the outputs of one call: these inputs, and other values of scalars.
  [[nodiscard]] Result<ExpectedOutputs> expected_of(InputSet set, const ScalarValues& scalars);

  [[nodiscard]] Bench bench() { return {tools_.device, tools_.toolbox, *data_, workspaces_}; }
  [[nodiscard]] const ExpectedOutputs& expected(InputSet set) const {
    return set == InputSet::timing && timing_ ? *timing_ : *verify_;
  }
  /// Returns whether a run takes so long that a config is run as rarely as possible.
  [[nodiscard]] bool runs_long() const { return runs_long_; }
  /// The longest run of the CPU loop so far; 0: it did not run.
  [[nodiscard]] double reference_seconds() const { return reference_seconds_; }
  /// Says how results are proved: "the CPU loop 'reduce'".
  [[nodiscard]] const std::string& reference() const { return reference_; }

 private:
  ProblemBench(const Tools& tools, const KernelSpec& spec, const Problem& problem,
               std::uint64_t seed, Fence of_workspaces)
      : tools_(tools),
        spec_(spec),
        problem_(problem),
        seed_(seed),
        workspaces_(tools.device, of_workspaces) {}

  /// Computes the expected outputs for a set of the current inputs.
  using Reference = std::function<Result<ExpectedOutputs>(InputSet)>;
  [[nodiscard]] Status expect(const Reference& reference);
  [[nodiscard]] Status expect_set(const Reference& reference, InputSet set);
  /// The same for a device reference, which may take long.
  [[nodiscard]] Status expect_in_time(const Reference& reference, const ConfigRun& run,
                                      double long_run_seconds);
  [[nodiscard]] Result<ExpectedOutputs> expect_scaled(const Reference& reference, InputSet set,
                                                      const ExpectedOutputs* known);
  [[nodiscard]] Status expect_recorded(const RecordedValues& recorded, const LaunchPlan& plan);
  /// Evaluates `[verify] written` for the inputs of the set.
  [[nodiscard]] Result<WrittenParts> written_parts_of(InputSet set, const LaunchPlan& plan);
  [[nodiscard]] Status expect_from_cpu(const LaunchPlan& plan);
  [[nodiscard]] Status expect_from_device(const Config& config, const LaunchPlan& plan,
                                          double long_run_seconds);
  /// Runs the device reference on one set, twice, and keeps its outputs. Fails if it leaves
  /// elements unwritten that `[verify] written` does not exclude.
  [[nodiscard]] Result<ExpectedOutputs> expect_run(const LaunchPlan& plan, ConfigRun& run,
                                                   InputSet set, const ScalarValues& scalars);
  /// Returns whether an output has an element that may be poison. If not, all were written.
  [[nodiscard]] Result<bool> any_poison(InputSet set);
  [[nodiscard]] Result<std::string> gaps_in(ConfigRun& run, InputSet set,
                                            const ExpectedOutputs& expected,
                                            const WrittenParts& parts);
  [[nodiscard]] Result<std::vector<std::uint64_t>> output_checksums(InputSet set);
  [[nodiscard]] Failure reference_fault(const std::string& what) const;
  [[nodiscard]] Status check_device_reference(const Config& config, std::uint64_t seed,
                                              const ReferenceLimits& limits);
  [[nodiscard]] Result<ExpectedOutputs> expect_from_loop(const LaunchPlan& plan, InputSet set,
                                                         const ScalarValues& scalars);
  [[nodiscard]] Result<Binary> compile(const Config& config) const;
  [[nodiscard]] Strictness strictness(InputSet set, const ScalarValues& scalars) const;

  Tools tools_;
  const KernelSpec& spec_;
  Problem problem_;
  std::uint64_t seed_;         ///< of the inputs
  ScalarValues scalars_;       ///< others than the examples
  bool has_specials_ = false;  ///< inputs hold NaN, infinities or limits of their type
  std::unique_ptr<ProblemData> data_;
  Workspaces workspaces_;
  std::optional<ExpectedOutputs> verify_;
  std::optional<ExpectedOutputs> timing_;  ///< only if the sets differ
  std::string reference_;
  bool runs_long_ = false;
  bool changed_something_ = false;      ///< whether the device reference changed an output
  std::optional<LaunchPlan> cpu_plan_;  ///< whose arguments the CPU loop was given
  double reference_seconds_ = 0;
  Config device_reference_;  ///< if that is the reference
};

}  // namespace kiln
