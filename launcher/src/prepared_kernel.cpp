// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/prepared_kernel.hpp"

#include <algorithm>
#include <utility>

namespace kiln {

PreparedKernel::PreparedKernel(std::shared_ptr<Runtime> runtime, KernelParts parts)
    : runtime_(std::move(runtime)),
      parts_(std::move(parts)),
      binder_(*parts_.spec, parts_.plan, runtime_->info().backend != "opencl") {}

Expected<std::unique_ptr<PreparedKernel>> PreparedKernel::make(std::shared_ptr<Runtime> runtime,
                                                               KernelParts parts) {
  std::unique_ptr<PreparedKernel> kernel(new PreparedKernel(std::move(runtime), std::move(parts)));
  const Expected<QueueLaunch*> own = kernel->find_or_make(nullptr);
  if (!own) {
    return own.error();
  }
  kernel->from_cache_ = (*own)->from_cache();
  return kernel;
}

QueueLaunch* PreparedKernel::find(const QueueKey& key) const {
  for (const Place* at = first_.load(std::memory_order_acquire); at != nullptr; at = at->next) {
    if (!(at->key.load(std::memory_order_acquire) == key)) continue;
    if (QueueLaunch* launch = at->launch.load(std::memory_order_acquire)) return launch;
  }
  return nullptr;
}

PreparedKernel::Place& PreparedKernel::free_place(const QueueKey& key) {
  for (Place& place : places_) {
    if (place.made) continue;
    place.key.store(key, std::memory_order_release);
    return place;
  }
  Place& added = places_.emplace_back(key);
  added.next = first_.load(std::memory_order_relaxed);
  first_.store(&added, std::memory_order_release);
  return added;
}

Expected<QueueLaunch*> PreparedKernel::find_or_make(void* queue) {
  queue = runtime_->named_queue(queue);
  const QueueKey key(queue);
  if (QueueLaunch* known = find(key)) {
    return known;
  }
  const std::lock_guard held(mutex_);
  if (QueueLaunch* known = find(key)) {  // another thread was faster
    return known;
  }
  Expected<std::unique_ptr<QueueLaunch>> made = QueueLaunch::make(runtime_, parts_, binder_, queue);
  if (!made) {
    return made.error();
  }
  Place& place = free_place(key);
  place.made = std::move(*made);
  place.launch.store(place.made.get(), std::memory_order_release);
  return place.made.get();
}

Expected<void> PreparedKernel::prepare_queue(void* queue) {
  const Expected<QueueLaunch*> made = find_or_make(queue);
  return made ? Expected<void>() : Expected<void>(made.error());
}

void PreparedKernel::forget_queue(void* queue) {
  const std::lock_guard held(mutex_);
  const QueueLaunch* launch = find(QueueKey(queue));
  if (launch == nullptr) return;
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& each) { return each.made.get() == launch; });
  place->key.store(QueueKey::of_none(), std::memory_order_release);
  place->launch.store(nullptr, std::memory_order_release);
  place->made.reset();
}

Expected<void> PreparedKernel::launch(void* queue, std::span<const LaunchArgument> arguments) {
  QueueLaunch* on_queue = find(QueueKey(runtime_->named_queue(queue)));
  if (on_queue == nullptr) {
    const Expected<QueueLaunch*> made = find_or_make(queue);
    if (!made) {
      return made.error();
    }
    on_queue = *made;
  }
  return on_queue->launch(arguments);
}

}  // namespace kiln
