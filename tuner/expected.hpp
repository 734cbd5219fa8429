// Expected: what the outputs of a problem must be for one set of inputs, and how exactly.
//
// Values lie in device memory in the output's own element type, so that comparing needs no
// download. They come from the CPU loop where that takes seconds at most, else from the device
// reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/problem_data.hpp"

namespace kiln {

/// The typical size of an output's elements: the root of the mean of their squares.
class Magnitude {
 public:
  /// `written`: which of them count; empty: all. They are elements `start` and on of it.
  void add(const HostArray& values, const std::vector<bool>& written = {}, std::size_t start = 0);
  void add(const Magnitude& other);
  /// 0 while nothing was added.
  [[nodiscard]] double root() const;
  /// How many elements were added.
  [[nodiscard]] double count() const { return count_; }

 private:
  double sum_ = 0;
  double count_ = 0;
};

/// How strict a comparison is, from the spec's [verify].
struct Strictness {
  bool exact = false;  ///< bit for bit
  double sum_length = 1;
  std::optional<double> stated;  ///< the spec's own tolerance
};

/// `set`: only the first check may ask for exactness, unless both sets are the same.
[[nodiscard]] Strictness strictness_of(const KernelSpec& spec, const Scope& scope, InputSet set,
                                       bool sets_differ);

/// Does the spec name a CPU loop, or give formulas?
[[nodiscard]] bool has_cpu_reference(const KernelSpec& spec);

/// Output name -> which of its elements are written; of outputs that are written in part.
using WrittenParts = std::map<std::string, std::vector<bool>>;

/// What `[verify] written` says for these inputs. Throws InputError where it cannot be evaluated.
[[nodiscard]] WrittenParts written_parts(const KernelSpec& spec, const Problem& problem,
                                         const LaunchPlan& plan,
                                         const std::vector<ProblemData::Output>& outputs,
                                         std::map<std::string, HostArray>& inputs);

/// Runs the CPU loop (or the spec's formulas): `arrays` holds the inputs in their own element
/// types, afterwards also the outputs, in f64 or i64. Throws InputError where there is no such
/// loop.
void run_reference(const KernelSpec& spec, const Problem& problem, const LaunchPlan& plan,
                   const std::vector<ProblemData::Output>& outputs,
                   std::map<std::string, HostArray>& arrays);

class Expected {
 public:
  /// Runs the reference over the downloaded inputs of the set.
  static Result<Expected> from_cpu(Device& device, const KernelSpec& spec, const Problem& problem,
                                   const LaunchPlan& plan, ProblemData& data, InputSet set,
                                   const Strictness& strictness);

  /// `arrays` holds the outputs as a reference gives them. Elements that are not written must hold
  /// what they held before a run.
  static Result<Expected> from_arrays(Device& device,
                                      const std::vector<ProblemData::Output>& outputs,
                                      const std::map<std::string, HostArray>& arrays,
                                      const Strictness& strictness,
                                      const WrittenParts& written = {});

  /// Keeps what the outputs hold now: the device reference has just run.
  static Result<Expected> from_outputs(Device& device, ProblemData& data, InputSet set,
                                       const Strictness& strictness, const WrittenParts& written);

  /// The values of an output.
  [[nodiscard]] const Buffer& values_of(const std::string& output) const;

  /// Is the tolerance of an output that has few elements known from those few? Chance may make all
  /// of them small: a sum of one row whose terms cancel.
  [[nodiscard]] bool wants_scale() const;

  /// `other`: what the same outputs must be for other inputs of the same kind. The tolerance then
  /// belongs to the typical size of both.
  void learn_scale(const Expected& other);

  struct Check {
    double max_error = 0;  ///< relative to the allowed error, over all outputs
    std::string mismatch;  ///< a sentence on the first wrong element; empty: all agree
  };
  /// Compares what the outputs, found by their names, hold now.
  [[nodiscard]] Result<Check> check(Device& device, Toolbox& toolbox,
                                    const BufferLookup& find_output) const;

 private:
  struct Entry {
    ProblemData::Output output;
    OwnedBuffer values;
    Magnitude magnitude;
    std::vector<bool> written;  ///< empty: all elements
  };
  explicit Expected(const Strictness& strictness) : strictness_(strictness) {}
  [[nodiscard]] Tolerance tolerance_of(const Entry& entry) const;

  Strictness strictness_;
  std::vector<Entry> entries_;
};

}  // namespace kiln
