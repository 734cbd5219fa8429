// ExtraChecks: checks a config on other sizes, and on inputs that no other config saw
// (docs/checks.md).
//
// A config that is right for one problem may skip a tail, or read past an end, that this problem
// does not have. A lookup could then return it for a size where it is wrong. So each binary also
// runs on small problems of the same compile-time fields, which share the binary, against the CPU
// loop: planned problems (tuner/rules/shrink_problem.hpp), the first of them with new inputs for
// every config; problems drawn at random (tuner/rules/drawn_problems.hpp), for each config the
// first ones that are legal for it; and problems on which it has few blocks. A problem is prepared
// when it is first needed, and kept for later configs. If results are extremes of inputs, the
// extremes walk through a small problem, and in longer steps through the problem itself, half of
// it, a quarter and so on (extreme_walk.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tuner/checks/extreme_walk.hpp"
#include "tuner/checks/problem_bench.hpp"
#include "tuner/checks/repeated_calls.hpp"
#include "tuner/rules/drawn_problems.hpp"

namespace kiln {

class ExtraChecks {
 public:
  /// Prepares nothing before the first check. On each problem, the CPU loop takes at most
  /// `max_operations` (0: no problem is planned or drawn). A problem without a CPU loop, or without
  /// room in memory, is left out. `spec` and the tools must outlive it.
  ExtraChecks(const ProblemBench::Tools& tools, const KernelSpec& spec, const Problem& problem,
              std::uint64_t seed, double max_operations);

  /// Runs `config`, loaded as `run`, on every planned problem for which it is legal, on those where
  /// it gets more blocks, and on kDrawnProblems drawn ones, calls it repeatedly, with special
  /// values among its inputs, and lets extremes walk. A Failure names the problem. Returns the
  /// largest error, relative to the allowed one.
  [[nodiscard]] Result<double> check(const Config& config, const ConfigRun& run);

  /// Each config runs on this many drawn problems, if so many are legal for it ...
  static constexpr std::size_t kDrawnProblems = 56;
  /// ... among this many.
  static constexpr std::size_t kDrawnInAll = 200;

 private:
  struct Extra {
    Problem problem;
    ScalarValues scalars = {};  ///< others than the examples
    VerifyInputs inputs = VerifyInputs::with_edges;
    std::unique_ptr<ProblemBench> bench = nullptr;  ///< nullptr if there was no room for it
    std::unique_ptr<ExtremeWalk> walk = nullptr;    ///< of borders, where extremes walk
  };
  /// A problem for repeated calls and special values; made when a config is first called there.
  struct CallSite {
    Problem problem;
    bool is_made = false;
    std::unique_ptr<RepeatedCalls> calls = nullptr;
    std::vector<Extra> specials = {};
  };
  [[nodiscard]] Status prepare(Extra& extra);
  [[nodiscard]] Status prepare_planned();
  [[nodiscard]] std::vector<CallSite> call_sites() const;
  [[nodiscard]] Status make(CallSite& site);
  [[nodiscard]] Result<double> check_calls(const Config& config, const ConfigRun& run);
  [[nodiscard]] Status reseed_first(const Config& config);
  [[nodiscard]] Result<double> check_on_chosen(const Config& config, const ConfigRun& run);
  [[nodiscard]] Result<double> check_at_borders(const Config& config, const ConfigRun& run);
  /// Returns the prepared problem; prepares it at the first call.
  [[nodiscard]] Result<Extra*> border(const Problem& problem);
  [[nodiscard]] Result<double> check_on_drawn(const Config& config, const ConfigRun& run);
  [[nodiscard]] Status walk_extremes(const Config& config, const ConfigRun& run);
  [[nodiscard]] Problem small_problem_to_walk() const;
  [[nodiscard]] Status make_walks();
  /// Returns an empty pointer if this problem has no walk, or if there is no room for it.
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
  bool is_prepared_ = false;
  std::vector<Extra> chosen_;
  std::vector<CallSite> sites_;
  ProblemDrawer drawer_;
  std::vector<Extra> drawn_;
  std::vector<Extra> borders_;
  std::vector<std::unique_ptr<ExtremeWalk>> walks_;
};

}  // namespace kiln
