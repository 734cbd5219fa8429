// Workspaces: the memory that kernels need between their steps, one block per stream.
//
// Blocks are allocated and freed in the order of their stream, so nothing waits, and all kernels on
// a stream share one block, as they run one after the other. A capture gets memory that was made
// beforehand, for itself alone, and keeps it: the graph may run at any time later.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace kiln::blas {

/// What a kernel needs: memory that must be all zero before a launch and is so after it, and memory
/// that may hold anything. Bytes.
struct WorkspaceSize {
  std::size_t zeroed = 0;
  std::size_t scratch = 0;
  [[nodiscard]] std::size_t bytes() const { return zeroed + scratch; }
};

class Workspaces {
 public:
  /// `most_bytes`: of all blocks together.
  explicit Workspaces(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// A block while a kernel is put on the stream: other threads of that stream wait.
  class Lease {
   public:
    [[nodiscard]] std::uintptr_t zeroed() const { return address_; }
    [[nodiscard]] std::uintptr_t scratch() const { return address_ + zeroed_bytes_; }
    /// The launch failed half-way: the zeroed part is cleared before its next use.
    void soil() { *soiled_ = true; }

   private:
    friend class Workspaces;
    std::unique_lock<std::mutex> lock_;
    std::uintptr_t address_ = 0;
    std::size_t zeroed_bytes_ = 0;
    bool* soiled_ = nullptr;
  };

  /// nullopt: there is no memory for it, or none was made for this capture yet. Any thread.
  [[nodiscard]] std::optional<Lease> lease(void* stream, const WorkspaceSize& size);

  /// Makes sure that the next capture finds memory of this size. Waits for the device; to be called
  /// by a thread that may do so during captures of others.
  void reserve_for_captures(const WorkspaceSize& size, void* own_stream);
  [[nodiscard]] bool wants_reserve() const;
  /// Whether a capture has taken the reserve since the last question. Any thread.
  [[nodiscard]] bool took_reserve() {
    return took_reserve_.load(std::memory_order_relaxed) && took_reserve_.exchange(false);
  }

 private:
  struct Block {
    std::mutex mutex;
    unsigned long long stream = 0;   ///< id
    unsigned long long capture = 0;  ///< id; 0: of eager launches
    std::uintptr_t address = 0;
    WorkspaceSize size;
    bool soiled = false;
    bool is_free = false;  ///< of captures: waits for one
  };
  [[nodiscard]] Block* block_of(unsigned long long stream, unsigned long long capture);
  [[nodiscard]] bool grow(Block& block, const WorkspaceSize& size, void* stream);
  [[nodiscard]] bool take_budget(std::size_t bytes);

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;  ///< guards the list and the sums
  std::deque<Block> blocks_;
  std::size_t used_bytes_ = 0;
  std::atomic<bool> took_reserve_{false};
};

}  // namespace kiln::blas
