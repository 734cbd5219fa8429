// ExtremeWalk: moves an extreme through every place of a small problem, or many places of a larger
// one.
//
// A maximum depends on one element only: a kernel that skips any other element still returns the
// right result. If the spec fills an input with a ramp and results are exact, the largest and
// smallest element of that input walk through its places. Each time, every output is compared with
// the CPU loop. All places of a small problem find an element that no thread reads. Some places of
// a larger one, at even distances, find a block whose result is lost.
//
//   pattern of 2n elements:  b b b b b b L S b b b b b b     window of n of them: the input
//   place 3 of 0 to 7:               [b b L S b b b]         L, S: largest, smallest; b: others
//
// The device copies one window after the other into the input and keeps the outputs of each launch.
// They are compared all at once. This takes some thousands of launches, so only the few configs
// that may be published get it, as with tuner/checks/extra_checks.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/checks/problem_bench.hpp"

namespace kiln {

class ExtremeWalk {
 public:
  /// Returns an empty pointer if no input of `problem` is a ramp, its results are not exact, it has
  /// no CPU loop, or an output is written in part. The loop runs once per place. There are at most
  /// `max_places` places (at least two): the first, the last, and others at even distances. `spec`
  /// and the tools must outlive it.
  static Result<std::unique_ptr<ExtremeWalk>> create(const ProblemBench::Tools& tools,
                                                     const KernelSpec& spec, const Problem& problem,
                                                     std::uint64_t seed, std::size_t max_places);

  /// Runs `config`, loaded as `run`, once per place. Does nothing if it is not legal for the
  /// problem. A Failure names the problem; its first index of a wrong element is the place of the
  /// smallest element. The largest is just before it.
  [[nodiscard]] Status check(const Config& config, const ConfigRun& run);

 private:
  struct Input {
    std::string name;
    HostArray pattern;  ///< twice the input's elements
    OwnedBuffer on_device;
    [[nodiscard]] std::size_t count() const { return pattern.count() / 2; }
    /// Where the window of `place` begins in the pattern, in bytes.
    [[nodiscard]] std::size_t window(std::size_t place) const;
  };
  /// The outputs of all visits, one after the other.
  struct Kept {
    ProblemData::Output output;  ///< of one visit
    OwnedBuffer values;
    [[nodiscard]] std::size_t bytes() const {
      return static_cast<std::size_t>(output.count) * size_of(output.dtype);
    }
  };

  ExtremeWalk(const ProblemBench::Tools& tools, const KernelSpec& spec, const Problem& problem)
      : tools_(tools), spec_(spec), problem_(problem) {}
  [[nodiscard]] ProblemData& data() { return bench_->bench().data; }
  [[nodiscard]] Status make_patterns(const std::vector<std::string>& ramps,
                                     const std::map<std::string, HostArray>& inputs);
  /// Returns the place of visit number `visit`.
  [[nodiscard]] std::size_t place(std::size_t visit) const;
  [[nodiscard]] Status expect(const LaunchPlan& plan,
                              const std::map<std::string, HostArray>& inputs);
  [[nodiscard]] Status visit(std::size_t number, const ConfigRun& run);

  ProblemBench::Tools tools_;
  const KernelSpec& spec_;
  Problem problem_;
  std::unique_ptr<ProblemBench> bench_;
  std::vector<Input> inputs_;
  std::size_t longest_ = 0;  ///< elements of the longest input
  std::size_t visits_ = 0;
  std::vector<Kept> kept_;
  std::optional<ExpectedOutputs> expected_;  ///< of all visits
};

}  // namespace kiln
