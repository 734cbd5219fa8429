// ExpectedOutputs: the required outputs of a problem for one set of inputs, and their tolerance.
//
// Values are in device memory in the output's own element type, so comparing needs no download.
// They come from the CPU loop if it takes seconds at most, else from the device reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/checks/problem_data.hpp"

namespace kiln {

/// The typical size of an output's elements: their root mean square.
class Magnitude {
 public:
  /// `written`: which elements count; empty: all. Its element `start` belongs to the first value.
  void add(const HostArray& values, const std::vector<bool>& written = {}, std::size_t start = 0);
  void add(const Magnitude& other);
  /// 0 before the first element.
  [[nodiscard]] double root() const;
  /// The number of added elements.
  [[nodiscard]] double count() const { return count_; }

 private:
  long double sum_ = 0;  ///< squares of large f64 overflow in f64
  double count_ = 0;
};

/// The strictness of a comparison, from the spec's [verify].
struct Strictness {
  bool exact = false;  ///< bit for bit
  double sum_length = 1;
  double input_eps = 0;
  double differing = 0;  ///< share of the elements that may be wrong
  /// NaN and infinities stand for each other: with such inputs, a sum of the same terms in another
  /// order gives one or the other.
  bool any_nonfinite = false;
  std::optional<double> stated;             ///< the spec's own tolerance
  std::map<std::string, double> stated_of;  ///< of single outputs; before `stated`

  /// The spec's own tolerance for an output.
  [[nodiscard]] std::optional<double> stated_for(const std::string& output) const;
};

/// `set`: only the first check may ask for exactness, unless both sets are the same.
[[nodiscard]] Strictness strictness_of(const KernelSpec& spec, const Scope& scope, InputSet set,
                                       bool sets_differ);

/// Converts the values to the type in which references return their outputs.
[[nodiscard]] HostArray widened(const HostArray& narrow);

/// Returns whether the spec names a CPU loop or a C function, or has formulas.
[[nodiscard]] bool has_cpu_reference(const KernelSpec& spec);

/// Output name -> which of its elements are written. Holds only outputs that are written in part.
using WrittenParts = std::map<std::string, std::vector<bool>>;

/// Evaluates `[verify] written` for these inputs. Throws InputError if it cannot be evaluated.
[[nodiscard]] WrittenParts written_parts(const KernelSpec& spec, const Problem& problem,
                                         const LaunchPlan& plan,
                                         const std::vector<ProblemData::Output>& outputs,
                                         std::map<std::string, HostArray>& inputs);

/// Runs the CPU loop (or the C function, or the formulas): `arrays` holds the inputs in their own
/// element types, afterwards also the outputs, in f64 or i64. Returns the seconds that it took,
/// compiling or loading a function left out. Throws InputError if there is no such loop.
double run_reference(const KernelSpec& spec, const Problem& problem, const LaunchPlan& plan,
                     const std::vector<ProblemData::Output>& outputs,
                     std::map<std::string, HostArray>& arrays);

class ExpectedOutputs {
 public:
  /// Runs the reference over the downloaded inputs of the set. `seconds`: raised to the time that
  /// it takes.
  static Result<ExpectedOutputs> from_cpu(Device& device, const KernelSpec& spec,
                                          const Problem& problem, const LaunchPlan& plan,
                                          ProblemData& data, InputSet set,
                                          const Strictness& strictness, double* seconds);

  /// `arrays` holds the reference's outputs. Elements that are not written must keep their value
  /// from before a run.
  static Result<ExpectedOutputs> from_arrays(Device& device,
                                             const std::vector<ProblemData::Output>& outputs,
                                             const std::map<std::string, HostArray>& arrays,
                                             const Strictness& strictness,
                                             const WrittenParts& written = {});

  /// Keeps the current outputs. Call it right after the device reference.
  static Result<ExpectedOutputs> from_outputs(Device& device, ProblemData& data, InputSet set,
                                              const Strictness& strictness,
                                              const WrittenParts& written);

  /// The values of an output.
  [[nodiscard]] const Buffer& values_of(const std::string& output) const;

  /// Returns whether an output is written in part only.
  [[nodiscard]] bool is_in_part() const;

  /// Returns whether the tolerance of an output depends on few elements. Chance may make all of
  /// them small, such as a sum of one row whose terms cancel.
  [[nodiscard]] bool wants_scale() const;

  /// `other`: the same outputs for other inputs of the same kind. The tolerance then uses the
  /// typical size of both.
  void learn_scale(const ExpectedOutputs& other);

  struct Check {
    double max_error = 0;  ///< largest error of all outputs, relative to the allowed one
    std::string mismatch;  ///< a sentence about the first wrong element; empty if all agree
    /// Outputs agree, but some elements are a NaN that was there before the run: were they written?
    /// Only a run over another poison can tell.
    bool may_be_unwritten = false;
  };
  /// Compares the current outputs, found by name.
  [[nodiscard]] Result<Check> check(Device& device, Toolbox& toolbox,
                                    const BufferLookup& find_output) const;

 private:
  struct Entry {
    ProblemData::Output output;
    OwnedBuffer values;
    Magnitude magnitude;
    std::vector<bool> written;  ///< empty: all elements
  };
  explicit ExpectedOutputs(const Strictness& strictness) : strictness_(strictness) {}
  [[nodiscard]] Tolerance tolerance_of(const Entry& entry) const;

  Strictness strictness_;
  std::vector<Entry> entries_;
};

}  // namespace kiln
