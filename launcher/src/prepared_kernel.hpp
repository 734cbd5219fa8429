// PreparedKernel: one config compiled and planned for one problem: launching it is filling in
// pointers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <kiln/launcher.hpp>

#include "launcher/src/argument_binding.hpp"
#include "launcher/src/queue_launch.hpp"
#include "launcher/src/runtime.hpp"

namespace kiln {

/// Any thread.
class PreparedKernel {
 public:
  /// Compiles, loads, and makes everything that the launcher's own queue needs.
  [[nodiscard]] static Expected<std::unique_ptr<PreparedKernel>> make(
      std::shared_ptr<Runtime> runtime, KernelParts parts);

  /// Warm, this takes no lock but the one of this kernel on this queue.
  [[nodiscard]] Expected<void> launch(void* queue, std::span<const LaunchArgument> arguments);
  /// Makes everything that launches on `queue` need.
  [[nodiscard]] Expected<void> prepare_queue(void* queue);

  [[nodiscard]] bool from_cache() const { return queues_.front()->from_cache(); }
  [[nodiscard]] const LaunchPlan& plan() const { return parts_.plan; }
  [[nodiscard]] const KernelSpec& spec() const { return *parts_.spec; }

 private:
  PreparedKernel(std::shared_ptr<Runtime> runtime, KernelParts parts);
  [[nodiscard]] QueueLaunch* find(void* queue) const;
  [[nodiscard]] Expected<QueueLaunch*> find_or_make(void* queue);

  std::shared_ptr<Runtime> runtime_;
  const KernelParts parts_;
  const ArgumentBinder binder_;
  /// A list that only grows, so that launches walk it without a lock: captured graphs use the
  /// workspaces of a queue for as long as they live, and nobody tells when a queue goes.
  std::atomic<QueueLaunch*> first_{nullptr};
  std::mutex mutex_;  ///< over growing
  std::vector<std::unique_ptr<QueueLaunch>> queues_;
};

}  // namespace kiln
