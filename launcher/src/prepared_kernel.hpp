// PreparedKernel: one config compiled and planned for one problem: launching it is filling in
// pointers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <kiln/launcher.hpp>

#include "core/artifact.hpp"
#include "launcher/src/argument_binding.hpp"
#include "launcher/src/runtime.hpp"

namespace kiln {

/// Any thread; launches of one launcher take turns.
class PreparedKernel {
 public:
  struct Parts {
    std::shared_ptr<const KernelSpec> spec;
    LaunchPlan plan;
    Source source;
    Launcher::Workspace workspace = Launcher::Workspace::pooled;
  };
  /// Compiles, loads, and makes everything that the launcher's own queue needs.
  [[nodiscard]] static Expected<std::unique_ptr<PreparedKernel>> make(
      std::shared_ptr<Runtime> runtime, Parts parts);
  ~PreparedKernel();
  PreparedKernel(const PreparedKernel&) = delete;
  PreparedKernel& operator=(const PreparedKernel&) = delete;

  [[nodiscard]] Expected<void> launch(void* queue, std::span<const LaunchArgument> arguments);

  [[nodiscard]] bool from_cache() const { return from_cache_; }
  [[nodiscard]] const LaunchPlan& plan() const { return parts_.plan; }
  [[nodiscard]] const KernelSpec& spec() const { return *parts_.spec; }

 private:
  /// Where a step's parameter comes from.
  struct Slot {
    enum class Kind { buffer, scalar } kind = Kind::buffer;
    std::size_t index = 0;  ///< in the plan's buffers or scalars
  };
  struct StepSlots {
    std::vector<Slot> arguments;
    std::vector<std::size_t> constants;  ///< buffers
    std::size_t cleared = 0;             ///< buffer of a clear step
  };
  /// What launches on one queue use, so that queues can run at the same time: the instance of the
  /// program, the workspaces, and room for the parameters.
  struct QueueState {
    void* queue = nullptr;
    Module* module = nullptr;
    std::vector<Buffer> workspaces;  ///< by the plan's buffers; handle 0: not a pooled workspace
    BoundArguments bound;
    std::vector<std::vector<KernelArgument>> arguments;    ///< by step
    std::vector<std::vector<ConstantArgument>> constants;  ///< by step
  };

  PreparedKernel(std::shared_ptr<Runtime> runtime, Parts parts);
  void resolve_slots();
  [[nodiscard]] Slot slot_of(const std::string& name) const;
  [[nodiscard]] Expected<std::unique_ptr<QueueState>> make_queue_state(void* queue);
  [[nodiscard]] Expected<void> allocate_workspaces(QueueState& state);
  void release(QueueState& state);
  [[nodiscard]] QueueState* find_queue_state(void* queue);
  [[nodiscard]] Status run_step(std::size_t step, Device& device, QueueState& state) const;
  [[nodiscard]] LaunchError to_error(const Failure& failure) const;

  std::shared_ptr<Runtime> runtime_;
  const Parts parts_;
  const ArgumentBinder binder_;
  std::vector<StepSlots> slots_;
  bool has_constants_ = false;
  bool from_cache_ = false;
  std::vector<std::unique_ptr<QueueState>> queues_;  ///< under the runtime's lock
};

}  // namespace kiln
