// ExtremeWalk: an extreme at every place of a small problem, or at many of a larger one, one place
// after the other.
//
// A maximum tells of one element only: a kernel that passes over any other one still gives the
// right answer. Where the spec fills an input with a ramp, and results are exact, the largest and
// the smallest element of that input walk through its places, and each time every output is
// compared with the CPU loop. All places of a small problem find the element that is nobody's; some
// of a larger one, at even distances, find the block whose result is lost.
//
//   pattern of 2n elements:  b b b b b b L S b b b b b b     window of n of them: the input
//   place 3 of 0 to 7:               [b b L S b b b]         L, S: largest, smallest; b: others
//
// The device copies one window after the other into the input and keeps the outputs of each launch;
// they are compared all at once. Some thousands of launches: a proof for the few configs that may
// be published, like those of tuner/extra_checks.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/problem_bench.hpp"

namespace kiln {

class ExtremeWalk {
 public:
  /// Nothing (an empty pointer) where no input of `problem` is a ramp, its results are not exact,
  /// it has no CPU loop, or an output is written in part. The loop runs once for each of the
  /// places, `max_places` (two at least) at most: the first, the last, and others at even
  /// distances. `spec` and the tools must outlive it.
  static Result<std::unique_ptr<ExtremeWalk>> create(const ProblemBench::Tools& tools,
                                                     const KernelSpec& spec, const Problem& problem,
                                                     std::uint64_t seed, std::size_t max_places);

  /// Runs `config`, loaded as `run`, once for each place; done where it is not legal for the
  /// problem. A Failure names the problem, and as the first index of a wrong element which of the
  /// places the smallest one had; the largest came just before it.
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
  /// The outputs of all visits, one behind the other.
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
  /// The place that is visited as number `visit`.
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
  std::optional<Expected> expected_;  ///< of all visits
};

}  // namespace kiln
