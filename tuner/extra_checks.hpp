// ExtraChecks: a config must be right on other sizes and on inputs that no other config saw.
//
// A config that is right for one problem may still forget a tail or read past an end that this
// problem does not have; another size of the same kernel would then get a wrong answer from a
// lookup. So each binary also runs on other small problems of the same compile-time fields (they
// share the binary), against the CPU loop: on a few chosen ones (tuner/shrink_problem.hpp), the
// first of which gets fresh inputs for every config, and on as many drawn at random
// (tuner/drawn_problems.hpp) as are promised, for each config the first of them that are legal for
// it; and on those where it has a few blocks. Problems are prepared when they are first needed, and
// kept for the configs that follow.
// Where results are extremes of inputs, these walk through a small problem, and in longer steps
// through the problem itself, half of it, a quarter, and so on (extreme_walk.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tuner/drawn_problems.hpp"
#include "tuner/extreme_walk.hpp"
#include "tuner/problem_bench.hpp"

namespace kiln {

class ExtraChecks {
 public:
  /// Prepares the chosen problems. The CPU loop takes `max_operations` at most on each (0: there
  /// are none, and none is drawn). Those whose reference is not a CPU loop, or for which there is
  /// no room, are left out. `spec` and the tools must outlive it. A Failure is sticky.
  static Result<std::unique_ptr<ExtraChecks>> create(const ProblemBench::Tools& tools,
                                                     const KernelSpec& spec, const Problem& problem,
                                                     std::uint64_t seed, double max_operations);

  /// Runs `config`, loaded as `run`, on every chosen problem for which it is legal, on those where
  /// it gets more blocks, and on kDrawnProblems drawn ones; extremes walk. A Failure names the
  /// problem. Returns the largest error, relative to the allowed one.
  [[nodiscard]] Result<double> check(const Config& config, const ConfigRun& run);

  /// So many drawn problems each config is put through, where so many are legal for it ...
  static constexpr std::size_t kDrawnProblems = 56;
  /// ... among this many.
  static constexpr std::size_t kDrawnInAll = 200;

 private:
  struct Extra {
    Problem problem;
    std::unique_ptr<ProblemBench> bench;  ///< nullptr: there was no room for it
    std::unique_ptr<ExtremeWalk> walk;    ///< of borders, where extremes walk
  };
  ExtraChecks(const ProblemBench::Tools& tools, const KernelSpec& spec, const Problem& problem,
              std::uint64_t seed, double max_operations)
      : tools_(tools),
        spec_(spec),
        problem_(problem),
        seed_(seed),
        max_operations_(max_operations),
        drawer_(spec, problem, tools.device.info(), {max_operations, seed}) {}
  [[nodiscard]] Status prepare(Extra& extra);
  [[nodiscard]] Status reseed_first(const Config& config);
  [[nodiscard]] Result<double> check_on_chosen(const Config& config, const ConfigRun& run);
  [[nodiscard]] Result<double> check_at_borders(const Config& config, const ConfigRun& run);
  /// What is known of the problem; prepared when it is asked for the first time.
  [[nodiscard]] Result<Extra*> border(const Problem& problem);
  [[nodiscard]] Result<double> check_on_drawn(const Config& config, const ConfigRun& run);
  [[nodiscard]] Status walk_extremes(const Config& config, const ConfigRun& run);
  [[nodiscard]] Problem small_problem_to_walk() const;
  [[nodiscard]] Status make_walks();
  /// An empty pointer where there is none for this problem, or no room for it.
  [[nodiscard]] Result<std::unique_ptr<ExtremeWalk>> make_walk(const Problem& problem,
                                                               std::size_t max_places);
  /// The drawn problem at `index`; nullptr: there are no more.
  [[nodiscard]] Extra* drawn(std::size_t index);
  [[nodiscard]] Result<double> check_on(Extra& extra, const LaunchPlan& plan, const ConfigRun& run,
                                        std::span<const InputSet> sets);

  ProblemBench::Tools tools_;
  const KernelSpec& spec_;
  Problem problem_;
  std::uint64_t seed_;
  double max_operations_;
  std::uint64_t last_seed_ = seed_;  ///< every problem has inputs of its own
  std::vector<Extra> chosen_;
  ProblemDrawer drawer_;
  std::vector<Extra> drawn_;
  std::vector<Extra> borders_;
  bool walks_are_made_ = false;  ///< when first needed
  std::vector<std::unique_ptr<ExtremeWalk>> walks_;
};

}  // namespace kiln
