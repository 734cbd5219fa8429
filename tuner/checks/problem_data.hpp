// ProblemData: the arguments of one problem in device memory, filled, guarded and watched.
//
// Allocated once per problem. There are two sets of inputs: one for the first check (fill_verify:
// values whose results can be compared exactly) and one for timing (fill). Both stay in memory if
// there is room; otherwise load() fills them again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/launch_plan.hpp"
#include "templates/reference.hpp"
#include "tuner/checks/guarded_buffer.hpp"
#include "tuner/checks/launch_sequence.hpp"
#include "tuner/checks/toolbox.hpp"

namespace kiln {

enum class InputSet {
  verify,
  timing,
  altered,  ///< of VerifyInputs::repeated: the set `verify` but for a few elements
};
inline constexpr std::size_t kInputSets = 3;

/// The contents of the inputs of the first check. If the device has fences, one follows each
/// argument of all but `filled`.
enum class VerifyInputs {
  filled,  ///< the spec's fills
  /// For small problems that are never timed. Uniform fills also contain edge values. Ramps have
  /// their extremes at other places in the first set, and at their ends in the set for timing,
  /// unless the spec requests another fill there (fill_extra).
  with_edges,
  /// For calls one after the other: all sets are in the same memory.
  repeated,
  /// As `filled`, with NaN in the set `verify`, and -0 and subnormals in the set `timing`.
  with_nans,
  /// As `filled`, with infinities in the set `verify`, and the limits of the type in the set
  /// `timing`. Floating-point types whose outputs are sums: one infinity in each, since the order
  /// of adding would count.
  with_infinities,
};

/// The contents of outputs and workspaces before a run.
enum class Before {
  poison,
  as_left,  ///< what the run before has left
};

/// The poison of outputs before a run.
enum class Poison {
  usual,
  other,  ///< shows unwritten elements (reference_gaps.hpp)
};

class ProblemData {
 public:
  /// `plan`: the launch plan of any config of this problem; its arguments are the problem's.
  /// `device` and `toolbox` must outlive the result. Fails with out_of_memory. `recorded`: inputs
  /// that hold these values in both sets, by name.
  static Result<std::unique_ptr<ProblemData>> create(Device& device, Toolbox& toolbox,
                                                     const KernelSpec& spec, const Problem& problem,
                                                     const LaunchPlan& plan, std::uint64_t seed,
                                                     VerifyInputs verify,
                                                     std::map<std::string, HostArray> recorded);

  /// Returns whether the set for timing has other values than the set for the first check.
  [[nodiscard]] bool sets_differ() const { return sets_differ_; }
  /// Returns whether they are values of another kind, too.
  [[nodiscard]] bool kinds_differ() const { return kinds_differ_; }

  /// Uses the set for timing in all checks from now on: the device takes long for each run.
  void keep_timing_set();

  /// Sets other input values, drawn from `seed`. ExpectedOutputs outputs of the old values become
  /// invalid.
  void reseed(std::uint64_t seed);

  /// From the next load() on.
  void set_poison(Poison poison) { poison_ = poison; }

  /// Prepares a checked run: loads the set of inputs, restores read_write buffers, poisons outputs
  /// (unless they stay as they were left) and arms red zones.
  [[nodiscard]] Status load(InputSet set, Before outputs = Before::poison);

  /// Prepares timed runs, which need not be compared: as load(), but what stir() changed may stay.
  [[nodiscard]] Status load_for_timing();
  /// Copies a part of each input of the set for timing, of at most `most_bytes`, over another part:
  /// a kernel that keeps answers has new inputs. Enqueued; inputs whose elements belong together
  /// (computed, recorded or sorted ones) stay as they are.
  [[nodiscard]] Status stir(std::size_t most_bytes);

  /// Call it after a checked run. Returns a sentence if red zones or read-only inputs have changed,
  /// else an empty string. The next load() repairs them.
  [[nodiscard]] Result<std::string> inspect(InputSet set);

  /// Returns the buffer of an argument; nullptr if there is no argument `name`.
  [[nodiscard]] const Buffer* find(const std::string& name, InputSet set) const;

  /// One argument that a kernel writes.
  struct Output {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    std::int64_t count = 0;
    Access access = Access::write;  ///< or read_write
  };
  [[nodiscard]] const std::vector<Output>& outputs() const { return outputs_; }

  /// Downloads every argument that holds values before a run; load(set) must have been called last.
  [[nodiscard]] Result<std::map<std::string, HostArray>> download_inputs(InputSet set);

 private:
  struct Argument {
    BufferPlan plan;
    std::array<Fill, kInputSets> fills;  ///< by set; inputs only
    /// By set: the elements where the spec computes them instead of a fill.
    std::array<std::vector<std::byte>, kInputSets> computed;
    /// All sets use one buffer, which is filled again when the set changes.
    bool shares_buffer = true;
    std::vector<GuardedBuffer> buffers;  ///< one, or one per set
    std::array<bool, kInputSets> filled = {};
    bool is_stirred = false;  ///< the set for timing is not as it was filled
    std::array<std::optional<std::uint64_t>, kInputSets> hash;
    std::optional<std::size_t> zones_of;  ///< the set whose zones are around a shared buffer

    [[nodiscard]] bool sets_are_equal() const {
      return computed[0].empty() ? fills[0] == fills[1] : computed[0] == computed[1];
    }
    [[nodiscard]] bool may_stir() const;
    [[nodiscard]] static std::size_t index_of(InputSet set);
    [[nodiscard]] GuardedBuffer& buffer(InputSet set) {
      return buffers[shares_buffer ? 0 : index_of(set)];
    }
    [[nodiscard]] const GuardedBuffer& buffer(InputSet set) const {
      return buffers[shares_buffer ? 0 : index_of(set)];
    }
  };

  ProblemData(Device& device, Toolbox& toolbox) : device_(device), toolbox_(toolbox) {}
  [[nodiscard]] InputSet used(InputSet set) const { return only_timing_ ? InputSet::timing : set; }
  [[nodiscard]] Status allocate(const LaunchPlan& plan, VerifyInputs verify);
  [[nodiscard]] Status load_arguments(InputSet set, Before outputs);
  [[nodiscard]] Status fill_input(Argument& argument, InputSet set);
  [[nodiscard]] Status arm_zones(Argument& argument, InputSet set);
  static void compute_elements(Argument& argument, const kiln::Argument& spec_argument,
                               const Scope& scope);
  [[nodiscard]] Status choose_elements(const Argument& argument, InputSet set);
  [[nodiscard]] Result<std::string> inspect_input(Argument& argument, InputSet set);

  Device& device_;
  Toolbox& toolbox_;
  std::vector<Argument> arguments_;
  std::vector<Output> outputs_;
  bool sets_differ_ = false;
  bool kinds_differ_ = false;
  bool only_timing_ = false;  ///< the set for timing stands in for the others
  std::uint64_t stirs_ = 0;
  bool zones_damaged_ = false;
  Poison poison_ = Poison::usual;
};

/// Memory for workspaces, reused from config to config. It grows as needed, and is guarded and
/// poisoned like outputs.
class Workspaces {
 public:
  explicit Workspaces(Device& device, Fence fence = Fence::none) : device_(device), fence_(fence) {}
  /// Allocates the workspaces of `plan`. Fails with out_of_memory.
  [[nodiscard]] Status prepare(const LaunchPlan& plan);
  [[nodiscard]] Status poison();
  /// From the next poison() on.
  void set_poison(Poison poison) { poison_ = poison; }
  /// Sets the memory of all zeroed workspaces so far to zero. This overwrites red zones: call
  /// inspect() only after the next prepare().
  [[nodiscard]] Status clear_zeroed();
  [[nodiscard]] Result<std::string> inspect();
  [[nodiscard]] const Buffer* find(const std::string& name) const;

 private:
  struct Entry {
    std::optional<GuardedBuffer> buffer;
    DType dtype = DType::f32;
    std::string name;  ///< name in the current plan; empty if not in use
  };
  [[nodiscard]] Status prepare_entry(Entry& entry, const BufferPlan& workspace);
  [[nodiscard]] Result<bool> is_all_zero(const Buffer& buffer);

  Device& device_;
  Fence fence_;
  // By position, kept from config to config. Zeroed workspaces have a separate pool: configs that
  // run in turn may share them, since each leaves them zero.
  std::vector<Entry> scratch_pool_;
  std::vector<Entry> zeroed_pool_;
  Poison poison_ = Poison::usual;
};

/// Returns the byte of poisoned elements. The usual byte makes floats NaN and integers a large odd
/// number, which is rarely a right result.
[[nodiscard]] std::uint8_t poison_byte(DType dtype, Poison poison = Poison::usual);

}  // namespace kiln
