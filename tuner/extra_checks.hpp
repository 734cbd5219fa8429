// ExtraChecks: a config must be right on other sizes and on inputs that no other config saw.
//
// A config that is right for one problem may still forget a tail or read past an end that this
// problem does not have; another size of the same kernel would then get a wrong answer from a
// lookup. So each binary also runs on a few small problems of the same compile-time fields (they
// share the binary), against the CPU loop. The first of them gets fresh inputs for every config.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "templates/renderer.hpp"
#include "tuner/problem_bench.hpp"

namespace kiln {

class ExtraChecks {
 public:
  /// Prepares the extra problems, whose CPU loop takes `max_operations` at most (0: there are
  /// none). Those whose reference is not a CPU loop, or for which there is no room, are left out.
  /// `spec` and the tools must outlive it. A Failure is sticky.
  static Result<std::unique_ptr<ExtraChecks>> create(const ProblemBench::Tools& tools,
                                                     const KernelSpec& spec, const Problem& problem,
                                                     std::uint64_t seed, double max_operations);

  /// Runs `config`, loaded as `run`, on every extra problem for which it is legal and has the same
  /// source. A Failure names the problem. Returns the largest error, relative to the allowed one.
  [[nodiscard]] Result<double> check(const Config& config, const ConfigRun& run);

 private:
  struct Extra {
    Problem problem;
    std::unique_ptr<ProblemBench> bench;
  };
  ExtraChecks(const ProblemBench::Tools& tools, const KernelSpec& spec, const Problem& problem,
              std::uint64_t seed)
      : tools_(tools), spec_(spec), problem_(problem), renderer_(spec), seed_(seed) {}
  [[nodiscard]] Result<double> check_on(Extra& extra, const LaunchPlan& plan, const ConfigRun& run);

  ProblemBench::Tools tools_;
  const KernelSpec& spec_;
  Problem problem_;
  Renderer renderer_;
  std::uint64_t seed_;
  std::vector<Extra> extras_;
};

}  // namespace kiln
