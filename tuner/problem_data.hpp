// ProblemData: the arguments of one problem in device memory, filled, guarded and watched.
//
// Allocated once per problem. There are two sets of inputs: one for the first check (fill_verify:
// values whose results can be compared exactly) and one for timing (fill). Both stay in memory
// where there is room; otherwise load() fills anew.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/launch_plan.hpp"
#include "templates/reference.hpp"
#include "tuner/guarded_buffer.hpp"
#include "tuner/launch_sequence.hpp"
#include "tuner/toolbox.hpp"

namespace kiln {

enum class InputSet { verify, timing };

/// What the inputs of the first check hold.
enum class VerifyInputs {
  filled,      ///< what the spec says
  with_edges,  ///< where it says uniform, also the values on edges; where it says ramp, the
               ///< extremes elsewhere, and the set for timing has them at the ends of a ramp, or is
               ///< what the spec wants there (fill_extra); for small problems that are never
               ///< timed: a fence is behind each of their inputs, where the device has any
};

/// What outputs hold before a run.
enum class Poison {
  usual,
  other,  ///< so that what was not written shows (reference_gaps.hpp)
};

class ProblemData {
 public:
  /// `plan`: the launch plan of any config of this problem; its arguments are the problem's.
  /// `device` and `toolbox` must outlive the result. Fails with out_of_memory.
  static Result<std::unique_ptr<ProblemData>> create(Device& device, Toolbox& toolbox,
                                                     const KernelSpec& spec, const Problem& problem,
                                                     const LaunchPlan& plan, std::uint64_t seed,
                                                     VerifyInputs verify);

  /// Does the set for timing hold other values than the one for the first check?
  [[nodiscard]] bool sets_differ() const { return sets_differ_; }

  /// From now on inputs hold other values, drawn from `seed`; what was expected of the old ones is
  /// void.
  void reseed(std::uint64_t seed);

  /// From the next load() on.
  void set_poison(Poison poison) { poison_ = poison; }

  /// Makes everything ready for a checked run: inputs hold the set, read_write buffers are as
  /// before any run, outputs are poisoned, red zones armed.
  [[nodiscard]] Status load(InputSet set);

  /// After a checked run: empty when red zones and read-only inputs are untouched, else a sentence.
  /// Repaired by the next load().
  [[nodiscard]] Result<std::string> inspect(InputSet set);

  /// The buffer that stands for an argument; nullptr when `name` is none.
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
    std::array<Fill, 2> fills;  ///< by set; inputs only
    bool shares_buffer = true;  ///< both sets in one buffer: filled anew when the set changes
    std::vector<GuardedBuffer> buffers;  ///< one, or one a set
    std::array<bool, 2> filled = {false, false};
    std::array<std::optional<std::uint64_t>, 2> hash;
    std::optional<std::size_t> zones_of;  ///< the set whose zones lie around a shared buffer

    [[nodiscard]] static std::size_t index_of(InputSet set);
    [[nodiscard]] GuardedBuffer& buffer(InputSet set) {
      return buffers[shares_buffer ? 0 : index_of(set)];
    }
    [[nodiscard]] const GuardedBuffer& buffer(InputSet set) const {
      return buffers[shares_buffer ? 0 : index_of(set)];
    }
  };

  ProblemData(Device& device, Toolbox& toolbox) : device_(device), toolbox_(toolbox) {}
  [[nodiscard]] Status allocate(const LaunchPlan& plan, Fence behind_inputs);
  [[nodiscard]] Status fill_input(Argument& argument, InputSet set);
  [[nodiscard]] Status arm_zones(Argument& argument, InputSet set);
  [[nodiscard]] Status choose_elements(const Argument& argument, InputSet set);
  [[nodiscard]] Result<std::string> inspect_input(Argument& argument, InputSet set);

  Device& device_;
  Toolbox& toolbox_;
  std::vector<Argument> arguments_;
  std::vector<Output> outputs_;
  bool sets_differ_ = false;
  bool zones_damaged_ = false;
  Poison poison_ = Poison::usual;
};

/// Memory for the workspaces of one config after the other: grows as needed, guarded and poisoned
/// like outputs.
class Workspaces {
 public:
  explicit Workspaces(Device& device) : device_(device) {}
  /// Room for the workspaces of `plan`. Fails with out_of_memory.
  [[nodiscard]] Status prepare(const LaunchPlan& plan);
  [[nodiscard]] Status poison();
  /// From the next poison() on.
  void set_poison(Poison poison) { poison_ = poison; }
  /// Sets to zero all that zeroed workspaces of any config prepared so far may hold. Red zones go:
  /// no inspect() until the next prepare().
  [[nodiscard]] Status clear_zeroed();
  [[nodiscard]] Result<std::string> inspect();
  [[nodiscard]] const Buffer* find(const std::string& name) const;

 private:
  struct Entry {
    std::optional<GuardedBuffer> buffer;
    DType dtype = DType::f32;
    std::string name;  ///< in the plan at hand; empty: not in use
  };
  [[nodiscard]] Status prepare_entry(Entry& entry, const BufferPlan& workspace);
  [[nodiscard]] Result<bool> is_all_zero(const Buffer& buffer);

  Device& device_;
  // By position, kept from config to config. Zeroed ones are a pool of their own: configs that run
  // in turn may share them, for each leaves them zero.
  std::vector<Entry> scratch_pool_;
  std::vector<Entry> zeroed_pool_;
  Poison poison_ = Poison::usual;
};

/// The byte that elements which nobody wrote consist of. The usual one makes NaN of floats and a
/// large odd number of integers, which few right results are.
[[nodiscard]] std::uint8_t poison_byte(DType dtype, Poison poison = Poison::usual);

}  // namespace kiln
