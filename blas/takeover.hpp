// Takeover: decides for every call whether Kiln runs it, and runs it.
//
// Made by the first call of cuBLAS in a process and never destroyed. A thread of low priority reads
// the database, and compiles the kernel of a product after its first call, which is forwarded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <semaphore.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "blas/known_products.hpp"
#include "blas/product_call.hpp"
#include "blas/product_table.hpp"
#include "blas/ready_product.hpp"
#include "blas/recording.hpp"

namespace kiln::blas {

/// The library's own call, with the program's arguments.
class Forward {
 public:
  virtual ~Forward() = default;
  virtual int operator()() = 0;
};

class Takeover {
 public:
  /// The one of this process.
  [[nodiscard]] static Takeover& instance() noexcept;

  /// Serves a call that was read: by Kiln or by `forward`. Returns the status for the program.
  [[nodiscard]] int serve(const RealLibrary& real, const ProductCall& call,
                          Forward& forward) noexcept;
  /// Counts a call that was not understood, for the record.
  void count_other(const char* function) noexcept { recording_.count_other(function); }

  /// Whether every call can be forwarded without a look.
  [[nodiscard]] bool is_idle() const noexcept {
    return knows_nothing_.load(std::memory_order_relaxed);
  }
  /// Whether products are taken over, from the next call on; returns what it was.
  bool enable(bool enabled) noexcept { return enabled_.exchange(enabled); }

 private:
  struct OnDevice {
    std::atomic<void*> context{nullptr};
    bool is_open = false;  ///< of the thread
    std::shared_ptr<Runtime> runtime;
    std::unique_ptr<Workspaces> workspaces;
    KnownProducts known;
  };
  Takeover();
  /// The index of the device whose context is current; nullopt: none, or too many.
  [[nodiscard]] std::optional<std::size_t> current_device() noexcept;
  [[nodiscard]] int check(const ProductCall& call, const ReadyProduct& kernel,
                          Forward& forward) noexcept;
  void wake() noexcept { ::sem_post(&work_); }

  // Of the thread.
  void run();
  void open(OnDevice& device);
  void answer(ProductEntry& entry, std::size_t index);
  void stop();
  /// Tells a reason for a product that stays the library's, the first time that it holds.
  void tell_once(const std::string& reason, const std::string& problem);

  sem_t work_{};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> knows_nothing_{false};
  std::atomic<bool> enabled_{true};
  std::unique_ptr<ProductTable> table_;
  std::array<OnDevice, kMostDevices> devices_;
  std::shared_ptr<const KernelSpec> matmul_;
  std::string trouble_;         ///< told once
  std::set<std::string> told_;  ///< of the thread
  Recording recording_;

  // Of check mode.
  std::mutex check_mutex_;
  std::uint64_t checked_ = 0;
  std::uint64_t beyond_ = 0;
  double worst_ = 0;
  std::string worst_product_;

  const int process_;  ///< a child that was forked has no thread
  std::thread thread_;
};

}  // namespace kiln::blas
