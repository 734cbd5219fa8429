// SPDX-License-Identifier: Apache-2.0
#include "blas/workspaces.hpp"

#include <algorithm>

#include "backends/cuda/cuda_api.hpp"
#include "blas/driver.hpp"

namespace kiln::blas {
namespace {

constexpr unsigned long long kNoCapture = ~0ULL;  // the id of none
constexpr int kCaptureActive = 1;                 // CU_STREAM_CAPTURE_STATUS_ACTIVE
constexpr std::size_t kMostBlocks = 256;          // streams and captures; others are forwarded

WorkspaceSize larger(const WorkspaceSize& a, const WorkspaceSize& b) {
  return {std::max(a.zeroed, b.zeroed), std::max(a.scratch, b.scratch)};
}

bool holds(const WorkspaceSize& block, const WorkspaceSize& size) {
  return block.zeroed >= size.zeroed && block.scratch >= size.scratch;
}

}  // namespace

Workspaces::Block* Workspaces::block_of(unsigned long long stream, unsigned long long capture) {
  const std::lock_guard held(mutex_);
  Block* free = nullptr;
  for (Block& block : blocks_) {
    if (block.is_free) {
      free = &block;
    } else if (block.stream == stream && block.capture == capture) {
      return &block;
    }
  }
  if (capture != 0) {
    if (free == nullptr) return nullptr;
    free->is_free = false;
    free->stream = stream;
    free->capture = capture;
    took_reserve_.store(true);
    return free;
  }
  if (blocks_.size() >= kMostBlocks) return nullptr;
  Block& added = blocks_.emplace_back();
  added.stream = stream;
  return &added;
}

bool Workspaces::take_budget(std::size_t bytes) {
  const std::lock_guard held(mutex_);
  if (used_bytes_ + bytes > most_bytes_) return false;
  used_bytes_ += bytes;
  return true;
}

bool Workspaces::grow(Block& block, const WorkspaceSize& size, void* stream) {
  const WorkspaceSize wanted = larger(block.size, size);
  if (!take_budget(wanted.bytes())) return false;
  std::uintptr_t address = 0;
  if (driver().mem_alloc_async(&address, wanted.bytes(), stream) != 0) {
    const std::lock_guard held(mutex_);
    used_bytes_ -= wanted.bytes();
    return false;
  }
  if (block.address != 0) {
    driver().mem_free_async(block.address, stream);
    const std::lock_guard held(mutex_);
    used_bytes_ -= block.size.bytes();
  }
  block.address = address;
  block.size = wanted;
  block.soiled = wanted.zeroed > 0;
  return true;
}

std::optional<Workspaces::Lease> Workspaces::lease(void* stream, const WorkspaceSize& size) {
  const DriverCalls& calls = driver();
  unsigned long long id = 0;
  unsigned long long capture = 0;
  int status = 0;
  if (!calls.has_ordered_memory() || calls.capture_info == nullptr ||
      calls.capture_info(stream, &status, &capture, nullptr, nullptr, nullptr) != 0 ||
      status > kCaptureActive) {  // one that has failed
    return std::nullopt;
  }
  if (status == kCaptureActive) {
    // A capture forbids to ask for the id, and its stream is not destroyed while it lasts.
    id = reinterpret_cast<std::uintptr_t>(stream);
  } else {
    capture = 0;
    if (calls.stream_get_id(stream, &id) != 0) return std::nullopt;
  }
  Block* block = block_of(id, capture);
  if (block == nullptr) return std::nullopt;
  Lease lease;
  lease.lock_ = std::unique_lock(block->mutex);
  if (!holds(block->size, size) && (capture != 0 || !grow(*block, size, stream)))
    return std::nullopt;
  if (block->soiled) {
    if (cuda().stream.fill_bytes(block->address, 0, block->size.zeroed, stream) != 0)
      return std::nullopt;
    block->soiled = false;
  }
  lease.address_ = block->address;
  lease.zeroed_bytes_ = block->size.zeroed;
  lease.soiled_ = &block->soiled;
  return lease;
}

bool Workspaces::wants_reserve() const {
  const std::lock_guard held(mutex_);
  return std::none_of(blocks_.begin(), blocks_.end(),
                      [](const Block& block) { return block.is_free; });
}

void Workspaces::reserve_for_captures(const WorkspaceSize& size, void* own_stream) {
  if (size.bytes() == 0) return;
  std::unique_lock held(mutex_);
  Block* free = nullptr;
  for (Block& block : blocks_) {
    if (block.is_free) free = &block;
  }
  if (free != nullptr && holds(free->size, size)) return;
  if (free == nullptr && blocks_.size() >= kMostBlocks) return;
  const WorkspaceSize wanted = free != nullptr ? larger(free->size, size) : size;
  if (used_bytes_ + wanted.bytes() > most_bytes_) return;
  if (free != nullptr) {  // nobody takes it while it grows
    free->is_free = false;
    free->capture = kNoCapture;
  }
  used_bytes_ += wanted.bytes();
  held.unlock();

  std::uintptr_t address = 0;
  const StreamApi& api = cuda().stream;
  const bool made =
      api.mem_alloc(&address, wanted.bytes()) == 0 &&
      (wanted.zeroed == 0 || (api.fill_bytes(address, 0, wanted.zeroed, own_stream) == 0 &&
                              api.stream_synchronize(own_stream) == 0));
  held.lock();
  if (!made) {
    used_bytes_ -= wanted.bytes();
    if (free != nullptr) free->is_free = true;
    return;
  }
  Block& block = free != nullptr ? *free : blocks_.emplace_back();
  if (block.address != 0) {  // no capture had it
    api.mem_free(block.address);
    used_bytes_ -= block.size.bytes();
  }
  block.address = address;
  block.size = wanted;
  block.is_free = true;
}

}  // namespace kiln::blas
