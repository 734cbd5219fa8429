// QueueLaunch: one prepared kernel on one queue. Everything that can be done before a launch is
// done.
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

/// The parts of a kernel that do not depend on the queue. Must outlive its QueueLaunches.
struct KernelParts {
  std::shared_ptr<const KernelSpec> spec;
  LaunchPlan plan;
  Source source;
  Launcher::Workspace workspace = Launcher::Workspace::pooled;
};

/// Identifies a queue by its handle. cudaStreamPerThread and hipStreamPerThread are one handle for
/// a stream per thread; their key is an address that belongs to the calling thread. As small as a
/// pointer, so that it can be atomic.
class QueueKey {
 public:
  /// The key of `queue` for the calling thread.
  explicit QueueKey(void* queue) : key_(is_one_of_many(queue) ? of_this_thread() : queue) {}
  /// A key that equals that of no queue.
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

/// Converts `failure` to the error that the application sees.
[[nodiscard]] LaunchError to_error(const KernelSpec& spec, const Failure& failure);

/// Any thread may call launch(). Launches of one kernel on one queue take turns; other launches do
/// not wait for each other.
class QueueLaunch {
 public:
  /// Compiles or finds the program, loads it and allocates workspaces. `queue`: null for the
  /// launcher's own.
  [[nodiscard]] static Expected<std::unique_ptr<QueueLaunch>> make(std::shared_ptr<Runtime> runtime,
                                                                   const KernelParts& parts,
                                                                   const ArgumentBinder& binder,
                                                                   void* queue);
  ~QueueLaunch();
  QueueLaunch(const QueueLaunch&) = delete;
  QueueLaunch& operator=(const QueueLaunch&) = delete;

  /// Allocates nothing and does not wait for the device.
  [[nodiscard]] Expected<void> launch(std::span<const LaunchArgument> arguments);

  [[nodiscard]] bool from_cache() const { return program_->from_cache; }

 private:
  /// The source of a step's parameter.
  struct Slot {
    enum class Kind { buffer, scalar, tensor_map, local } kind = Kind::buffer;
    std::size_t index = 0;  ///< in the plan's buffers, scalars or tensor maps; local: its bytes
  };
  /// A tensor map, encoded for the memory of the last launch.
  struct Map {
    std::size_t buffer_slot = 0;
    std::uintptr_t address = 0;  ///< 0: not encoded yet
    TensorMapBytes bytes;
  };
  /// A step with memory for its parameters; the prepared launch points into it.
  struct Step {
    std::vector<Slot> slots;  ///< per argument
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
  /// Fails if a tensor map must be encoded again and cannot be.
  [[nodiscard]] Status fill_in(Step& step);
  [[nodiscard]] Status update_map(std::size_t index);

  std::shared_ptr<Runtime> runtime_;
  const KernelParts& parts_;
  const ArgumentBinder& binder_;
  void* queue_;
  Runtime::Program* program_ = nullptr;
  std::vector<Buffer> workspaces_;  ///< per buffer of the plan; handle 0: not a pooled workspace
  std::vector<Map> maps_;           ///< per tensor map of the plan; kernel arguments point into it
  Device* device_ = nullptr;        ///< encodes the tensor maps
  std::vector<Step> steps_;
  std::mutex mutex_;  ///< guards everything that a launch writes
  BoundArguments bound_;
};

}  // namespace kiln
