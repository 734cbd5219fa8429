// ProblemBench: the shared state of one problem's trials on the device: arguments, references,
// workspaces.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

class ProblemBench {
 public:
  /// Tools of the worker; must outlive the bench.
  struct Tools {
    Device& device;
    Compiler& compiler;
    Toolbox& toolbox;
  };

  /// Allocates and fills the arguments and computes the references. Up to `max_cpu_operations` the
  /// CPU loop computes them; above, the spec's device reference, after it has agreed with the CPU
  /// loop on a shrunk problem. For a spec that names none, the CPU loop goes on to seconds, and
  /// then the default config is the device reference.
  static Result<std::unique_ptr<ProblemBench>> create(const Tools& tools, const KernelSpec& spec,
                                                      const Problem& problem, std::uint64_t seed,
                                                      double max_cpu_operations,
                                                      VerifyInputs verify = VerifyInputs::filled);

  /// Sets other inputs, drawn from `seed`, and computes their reference. Only if the CPU loop is
  /// the reference (create() with a sufficient limit).
  [[nodiscard]] Status reseed(std::uint64_t seed);

  [[nodiscard]] Bench bench() { return {tools_.device, tools_.toolbox, *data_, workspaces_}; }
  [[nodiscard]] const ExpectedOutputs& expected(InputSet set) const {
    return set == InputSet::timing && timing_ ? *timing_ : *verify_;
  }
  /// Says how results are proved: "the CPU loop 'reduce'".
  [[nodiscard]] const std::string& reference() const { return reference_; }

 private:
  ProblemBench(const Tools& tools, const KernelSpec& spec, const Problem& problem,
               std::uint64_t seed)
      : tools_(tools), spec_(spec), problem_(problem), seed_(seed), workspaces_(tools.device) {}

  /// Computes the expected outputs for a set of the current inputs.
  using Reference = std::function<Result<ExpectedOutputs>(InputSet)>;
  [[nodiscard]] Status expect(const Reference& reference);
  [[nodiscard]] Status expect_set(const Reference& reference, InputSet set);
  [[nodiscard]] Status expect_recorded(const RecordedValues& recorded, const LaunchPlan& plan);
  /// Evaluates `[verify] written` for the inputs of the set.
  [[nodiscard]] Result<WrittenParts> written_parts_of(InputSet set, const LaunchPlan& plan);
  [[nodiscard]] Status expect_from_cpu(const LaunchPlan& plan);
  [[nodiscard]] Status expect_from_device(const Config& config, const LaunchPlan& plan);
  /// Runs the device reference on one set, twice, and keeps its outputs. Fails if it leaves
  /// elements unwritten that `[verify] written` does not exclude.
  [[nodiscard]] Result<ExpectedOutputs> expect_run(const LaunchPlan& plan, ConfigRun& run,
                                                   InputSet set);
  [[nodiscard]] Result<std::string> gaps_in(ConfigRun& run, InputSet set,
                                            const ExpectedOutputs& expected,
                                            const WrittenParts& parts);
  [[nodiscard]] Result<std::vector<std::uint64_t>> output_checksums(InputSet set);
  [[nodiscard]] Failure reference_fault(const std::string& what) const;
  [[nodiscard]] Status check_device_reference(const Config& config, std::uint64_t seed);
  [[nodiscard]] Result<Binary> compile(const Config& config) const;
  [[nodiscard]] Strictness strictness(InputSet set) const;

  Tools tools_;
  const KernelSpec& spec_;
  Problem problem_;
  std::uint64_t seed_;  ///< of the inputs
  std::unique_ptr<ProblemData> data_;
  Workspaces workspaces_;
  std::optional<ExpectedOutputs> verify_;
  std::optional<ExpectedOutputs> timing_;  ///< only if the sets differ
  std::string reference_;
  bool changed_something_ = false;      ///< whether the device reference changed an output
  std::optional<LaunchPlan> cpu_plan_;  ///< whose arguments the CPU loop was given
};

}  // namespace kiln
