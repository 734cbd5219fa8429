// ProductTable: every product that the process has asked for, each with what is known of it.
//
// A call reads it without a lock: entries lie in a fixed place, are only added, and their keys
// never change. A full table adds nothing more; what it does not hold is forwarded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cublas/matrix_product.hpp"
#include "blas/interception.hpp"

namespace kiln::blas {

inline constexpr std::size_t kMostDevices = 16;  ///< contexts that are served in one process

class ReadyProduct;

struct ProductEntry {
  enum class State : std::uint8_t { free, being_written, ready };
  std::atomic<State> state{State::free};
  // Constant once `state` is ready.
  MatrixProduct product;                 ///< row-major
  const RealLibrary* library = nullptr;  ///< whose release the product is asked of

  /// Per device: whether a call has come, and the kernel that runs it. A null kernel after
  /// `answered`: the library's own call stays.
  struct OnDevice {
    std::atomic<bool> wanted{false};
    std::atomic<bool> answered{false};
    std::atomic<ReadyProduct*> kernel{nullptr};
  };
  std::array<OnDevice, kMostDevices> devices;

  // What a recording counts.
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> taken_over{0};
  std::atomic<std::uint64_t> sampled{0};
  std::atomic<std::uint64_t> sampled_ns{0};
  std::atomic<const char*> function{nullptr};  ///< "cublasSgemm_v2": of the first call
};

class ProductTable {
 public:
  /// Returns the entry of the product, added if it is new; nullptr: the table is full. Any thread.
  /// `is_new`: whether this call added it.
  [[nodiscard]] ProductEntry* find_or_add(const MatrixProduct& product, const RealLibrary& library,
                                          bool& is_new) noexcept {
    is_new = false;
    std::size_t at = product.hash() + library.release_number;
    for (std::size_t step = 0; step < kLongestWalk; ++step, ++at) {
      ProductEntry& entry = entries_[at % kEntries];
      ProductEntry::State state = entry.state.load(std::memory_order_acquire);
      if (state == ProductEntry::State::free) {
        if (entry.state.compare_exchange_strong(state, ProductEntry::State::being_written)) {
          entry.product = product;
          entry.library = &library;
          entry.state.store(ProductEntry::State::ready, std::memory_order_release);
          is_new = true;
          return &entry;
        }
      }
      // Another thread is writing it: it will be there for the next call.
      if (state == ProductEntry::State::being_written) return nullptr;
      if (entry.product == product && entry.library->release_number == library.release_number) {
        return &entry;
      }
    }
    return nullptr;
  }

  /// Calls `visit(entry)` for each product.
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (ProductEntry& entry : entries_) {
      if (entry.state.load(std::memory_order_acquire) == ProductEntry::State::ready) visit(entry);
    }
  }

 private:
  static constexpr std::size_t kEntries = 8192;
  static constexpr std::size_t kLongestWalk = 16;
  std::array<ProductEntry, kEntries> entries_;
};

}  // namespace kiln::blas
