// PreparedKernel: one config, compiled and planned for one problem. A launch only fills in
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

/// Every function may be called from any thread.
class PreparedKernel {
 public:
  /// Compiles, loads, and allocates everything that the launcher's own queue needs.
  [[nodiscard]] static Expected<std::unique_ptr<PreparedKernel>> make(
      std::shared_ptr<Runtime> runtime, KernelParts parts);

  /// A warm launch takes one lock: that of this kernel on this queue.
  [[nodiscard]] Expected<void> launch(void* queue, std::span<const LaunchArgument> arguments);
  /// Allocates everything that launches on `queue` need.
  [[nodiscard]] Expected<void> prepare_queue(void* queue);
  /// Frees what prepare_queue() allocated. Nobody may launch on `queue` meanwhile. `queue` must not
  /// be the launcher's own.
  void forget_queue(void* queue);

  [[nodiscard]] bool from_cache() const { return from_cache_; }
  [[nodiscard]] const LaunchPlan& plan() const { return parts_.plan; }
  [[nodiscard]] const KernelSpec& spec() const { return *parts_.spec; }

 private:
  /// One slot per queue; forget_queue() frees the slot for reuse. Readers take no lock: they
  /// compare `key` before they load `launch`, and no queue matches the key of a free slot.
  struct Place {
    static_assert(std::atomic<QueueKey>::is_always_lock_free);

    std::atomic<QueueKey> key;
    std::atomic<QueueLaunch*> launch{nullptr};  ///< null: the slot is free
    std::unique_ptr<QueueLaunch> made;          ///< owns `launch`; guarded by mutex_
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
  /// Whether the binary for the launcher's own queue came from the cache.
  bool from_cache_ = false;
  /// A list that only grows, so that launches can walk it without a lock. Its length is the largest
  /// number of queues at one time.
  std::atomic<Place*> first_{nullptr};
  std::mutex mutex_;  ///< guards places_ and their owners
  std::deque<Place> places_;
};

}  // namespace kiln
