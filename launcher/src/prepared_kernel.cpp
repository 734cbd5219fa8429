// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/prepared_kernel.hpp"

#include <utility>

namespace kiln {

PreparedKernel::PreparedKernel(std::shared_ptr<Runtime> runtime, KernelParts parts)
    : runtime_(std::move(runtime)),
      parts_(std::move(parts)),
      binder_(*parts_.spec, parts_.plan, runtime_->info().backend != "opencl") {}

Expected<std::unique_ptr<PreparedKernel>> PreparedKernel::make(std::shared_ptr<Runtime> runtime,
                                                               KernelParts parts) {
  std::unique_ptr<PreparedKernel> kernel(new PreparedKernel(std::move(runtime), std::move(parts)));
  if (Expected<void> made = kernel->prepare_queue(nullptr); !made) {
    return made.error();
  }
  return kernel;
}

QueueLaunch* PreparedKernel::find(void* queue) const {
  const QueueKey key(queue);
  QueueLaunch* at = first_.load(std::memory_order_acquire);
  while (at != nullptr && !(at->key() == key)) {
    at = at->next;
  }
  return at;
}

Expected<QueueLaunch*> PreparedKernel::find_or_make(void* queue) {
  if (QueueLaunch* known = find(queue)) {
    return known;
  }
  const std::lock_guard held(mutex_);
  if (QueueLaunch* known = find(queue)) {  // another thread was faster
    return known;
  }
  Expected<std::unique_ptr<QueueLaunch>> made = QueueLaunch::make(runtime_, parts_, binder_, queue);
  if (!made) {
    return made.error();
  }
  QueueLaunch* added = queues_.emplace_back(std::move(*made)).get();
  added->next = first_.load(std::memory_order_relaxed);
  first_.store(added, std::memory_order_release);
  return added;
}

Expected<void> PreparedKernel::prepare_queue(void* queue) {
  const Expected<QueueLaunch*> made = find_or_make(queue);
  return made ? Expected<void>() : Expected<void>(made.error());
}

Expected<void> PreparedKernel::launch(void* queue, std::span<const LaunchArgument> arguments) {
  QueueLaunch* on_queue = find(queue);
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
