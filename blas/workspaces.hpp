// Workspaces: the memory that kernels need between their steps, one block per stream.
//
// Blocks are allocated and freed in the order of their stream, so nothing waits, and all kernels on
// a stream share one block, as they run one after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

  /// nullopt: there is no memory for it. The stream must not be captured. Any thread.
  [[nodiscard]] std::optional<Lease> lease(void* stream, const WorkspaceSize& size);

 private:
  struct Block {
    std::mutex mutex;
    unsigned long long stream = 0;  ///< id
    std::uintptr_t address = 0;
    WorkspaceSize size;
    bool soiled = false;
  };
  [[nodiscard]] Block* block_of(unsigned long long stream);
  [[nodiscard]] bool grow(Block& block, const WorkspaceSize& size, void* stream);
  [[nodiscard]] bool take_budget(std::size_t bytes);

  const std::size_t most_bytes_;
  std::mutex mutex_;  ///< guards the list and the sums
  std::deque<Block> blocks_;
  std::size_t used_bytes_ = 0;
};

}  // namespace kiln::blas
