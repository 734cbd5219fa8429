// SPDX-License-Identifier: Apache-2.0
#include "blas/workspaces.hpp"

#include <algorithm>

#include "backends/cuda/cuda_api.hpp"
#include "blas/driver.hpp"

namespace kiln::blas {
namespace {

constexpr std::size_t kMostBlocks = 256;  // streams; calls on others are forwarded

WorkspaceSize larger(const WorkspaceSize& a, const WorkspaceSize& b) {
  return {std::max(a.zeroed, b.zeroed), std::max(a.scratch, b.scratch)};
}

bool holds(const WorkspaceSize& block, const WorkspaceSize& size) {
  return block.zeroed >= size.zeroed && block.scratch >= size.scratch;
}

}  // namespace

Workspaces::Block* Workspaces::block_of(unsigned long long stream) {
  const std::lock_guard held(mutex_);
  for (Block& block : blocks_) {
    if (block.stream == stream) return &block;
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
  if (!calls.has_ordered_memory() || calls.stream_get_id(stream, &id) != 0) return std::nullopt;
  Block* block = block_of(id);
  if (block == nullptr) return std::nullopt;
  Lease lease;
  lease.lock_ = std::unique_lock(block->mutex);
  if (!holds(block->size, size) && !grow(*block, size, stream)) return std::nullopt;
  if (block->soiled && block->size.zeroed > 0) {
    if (cuda().stream.fill_bytes(block->address, 0, block->size.zeroed, stream) != 0)
      return std::nullopt;
    block->soiled = false;
  }
  lease.address_ = block->address;
  lease.zeroed_bytes_ = block->size.zeroed;
  lease.soiled_ = &block->soiled;
  return lease;
}

}  // namespace kiln::blas
