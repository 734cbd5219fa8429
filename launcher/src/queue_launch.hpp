// QueueLaunch: one prepared kernel on one queue, with all done beforehand that can be.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <kiln/launcher.hpp>

#include "core/artifact.hpp"
#include "launcher/src/argument_binding.hpp"
#include "launcher/src/runtime.hpp"

namespace kiln {

/// What a kernel is made of, whatever the queue. Outlives its QueueLaunches.
struct KernelParts {
  std::shared_ptr<const KernelSpec> spec;
  LaunchPlan plan;
  Source source;
  Launcher::Workspace workspace = Launcher::Workspace::pooled;
};

/// Which queue: its handle, and for CUDA's and HIP's stream of each thread (cudaStreamPerThread,
/// hipStreamPerThread: one handle for as many streams as there are threads) an address that is the
/// calling thread's own. As small as a pointer, so that it can change while others read it.
class QueueKey {
 public:
  /// Of the calling thread.
  explicit QueueKey(void* queue) : key_(is_one_of_many(queue) ? of_this_thread() : queue) {}
  /// Unlike that of any queue.
  static QueueKey of_none() {
    static char mark = 0;
    return QueueKey(&mark);
  }
  [[nodiscard]] static bool is_one_of_many(void* queue) { return queue == kStreamOfThread; }
  friend bool operator==(const QueueKey&, const QueueKey&) = default;

 private:
  static inline void* const kStreamOfThread = reinterpret_cast<void*>(2);
  static void* of_this_thread() {
    thread_local char mark = 0;
    return &mark;
  }

  void* key_;
};

/// `failure` as the application sees it.
[[nodiscard]] LaunchError to_error(const KernelSpec& spec, const Failure& failure);

/// Any thread; launches of one kernel on one queue take turns, others do not meet.
class QueueLaunch {
 public:
  /// Compiles or finds the program, loads it, and allocates workspaces. `queue` null: the
  /// launcher's own.
  [[nodiscard]] static Expected<std::unique_ptr<QueueLaunch>> make(std::shared_ptr<Runtime> runtime,
                                                                   const KernelParts& parts,
                                                                   const ArgumentBinder& binder,
                                                                   void* queue);
  ~QueueLaunch();
  QueueLaunch(const QueueLaunch&) = delete;
  QueueLaunch& operator=(const QueueLaunch&) = delete;

  /// No allocation, no wait for the device.
  [[nodiscard]] Expected<void> launch(std::span<const LaunchArgument> arguments);

  [[nodiscard]] bool from_cache() const { return program_->from_cache; }

 private:
  /// Where a step's parameter comes from.
  struct Slot {
    enum class Kind { buffer, scalar, tensor_map } kind = Kind::buffer;
    std::size_t index = 0;  ///< in the plan's buffers, scalars or tensor maps
  };
  /// A tensor map, encoded for the memory of the last launch.
  struct Map {
    std::size_t buffer_slot = 0;
    std::uintptr_t address = 0;  ///< 0: not encoded yet
    TensorMapBytes bytes;
  };
  /// A step with room for its parameters, which the prepared launch refers to.
  struct Step {
    std::vector<Slot> slots;  ///< by argument
    std::vector<KernelArgument> arguments;
    std::vector<std::size_t> constant_slots;  ///< in the plan's buffers
    std::vector<ConstantArgument> constants;
    std::unique_ptr<PreparedLaunch> launch;
  };

  QueueLaunch(std::shared_ptr<Runtime> runtime, const KernelParts& parts,
              const ArgumentBinder& binder, void* queue);
  [[nodiscard]] Slot slot_of(const std::string& name) const;
  [[nodiscard]] std::size_t buffer_slot(const std::string& name) const;
  [[nodiscard]] Status load();
  [[nodiscard]] Status prepare_step(const StepPlan& plan, Step& step);
  [[nodiscard]] Expected<void> allocate_workspaces();
  /// Fails where a tensor map has to be encoded anew and cannot be.
  [[nodiscard]] Status fill_in(Step& step);
  [[nodiscard]] Status update_map(std::size_t index);

  std::shared_ptr<Runtime> runtime_;
  const KernelParts& parts_;
  const ArgumentBinder& binder_;
  void* queue_;
  Runtime::Program* program_ = nullptr;
  std::vector<Buffer> workspaces_;  ///< by the plan's buffers; handle 0: not a pooled workspace
  std::vector<Map> maps_;           ///< by the plan's tensor maps; kernel arguments point into them
  Device* device_ = nullptr;        ///< encodes them
  std::vector<Step> steps_;
  std::mutex mutex_;  ///< over everything that a launch writes
  BoundArguments bound_;
};

}  // namespace kiln
