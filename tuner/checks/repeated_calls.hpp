// RepeatedCalls: calls a config as an application does: again with other inputs and scalars, while
// outputs and workspaces stay as the call before has left them, and then as at first.
//
// One problem, whose arguments stay in the same memory. A kernel that keeps an answer, recognises
// its inputs by some elements, relies on poison, adds to what it finds, or holds the example of a
// scalar is wrong in one of the calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/checks/problem_bench.hpp"

namespace kiln {

class RepeatedCalls {
 public:
  /// Prepares the calls and their references. `spec` and the tools must outlive it.
  static Result<std::unique_ptr<RepeatedCalls>> create(const ProblemBench::Tools& tools,
                                                       const KernelSpec& spec,
                                                       const Problem& problem, std::uint64_t seed);

  /// Runs `config`, loaded as `run`, through all calls; does nothing if the problem is not legal
  /// for it. A Failure says which call was wrong. Returns the largest error, relative to the
  /// allowed one.
  [[nodiscard]] Result<double> check(const Config& config, const ConfigRun& run);

 private:
  struct Call {
    InputSet set = InputSet::verify;
    ScalarValues scalars;  ///< others than the examples
    std::unique_ptr<ExpectedOutputs> expected;
  };
  RepeatedCalls(const ProblemBench::Tools& tools, const KernelSpec& spec, const Problem& problem)
      : tools_(tools), spec_(spec), problem_(problem) {}

  ProblemBench::Tools tools_;
  const KernelSpec& spec_;
  Problem problem_;
  std::unique_ptr<ProblemBench> bench_;
  std::vector<Call> calls_;
};

}  // namespace kiln
