// PreparedKernel: one config compiled and planned for one problem: launching it is filling in
// pointers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>

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
  /// Lets go of that again. Nobody may launch on `queue` meanwhile, which is not the launcher's.
  void forget_queue(void* queue);

  [[nodiscard]] bool from_cache() const { return from_cache_; }
  [[nodiscard]] const LaunchPlan& plan() const { return parts_.plan; }
  [[nodiscard]] const KernelSpec& spec() const { return *parts_.spec; }

 private:
  /// Of one queue after another: one that is forgotten leaves it to the next. Who walks without a
  /// lock looks at the key first: no place has that of a queue that does not have the place.
  struct Place {
    static_assert(std::atomic<QueueKey>::is_always_lock_free);

    std::atomic<QueueKey> key;
    std::atomic<QueueLaunch*> launch{nullptr};  ///< null: nobody's
    std::unique_ptr<QueueLaunch> made;          ///< the same, owned; under mutex_
    Place* next = nullptr;

    explicit Place(const QueueKey& first) : key(first) {}
  };

  PreparedKernel(std::shared_ptr<Runtime> runtime, KernelParts parts);
  [[nodiscard]] QueueLaunch* find(const QueueKey& key) const;
  /// Under mutex_.
  [[nodiscard]] Place& free_place(const QueueKey& key);
  [[nodiscard]] Expected<QueueLaunch*> find_or_make(void* queue);

  std::shared_ptr<Runtime> runtime_;
  const KernelParts parts_;
  const ArgumentBinder binder_;
  bool from_cache_ = false;  ///< on the launcher's own queue
  /// A list that only grows, to as many as there were queues at a time, so that launches walk it
  /// without a lock.
  std::atomic<Place*> first_{nullptr};
  std::mutex mutex_;  ///< over places_ and who has them
  std::deque<Place> places_;
};

}  // namespace kiln
