// Recording: which products a process asked for, how often, and what they took on the GPU.
//
// Some calls of each product stand between two events, which a thread reads later. Nothing waits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "blas/product_table.hpp"

namespace kiln::blas {

class Recording {
 public:
  explicit Recording(std::string file) : file_(std::move(file)) {}
  [[nodiscard]] bool is_on() const { return !file_.empty(); }

  /// A call of the product begins on `stream`. Returns the sample that end() ends; nullptr: this
  /// call is not sampled.
  struct Sample;
  [[nodiscard]] Sample* begin(ProductEntry& entry, void* context, void* stream) noexcept;
  static void end(Sample* sample, void* stream) noexcept;
  void count_other(const char* function) noexcept;

  // Of one thread.
  /// Reads the samples that are over.
  void harvest();
  /// Writes FILE.PID, whole or not at all. Does nothing before the first call.
  void write(ProductTable& table, const std::string& device);

  struct Sample {
    enum class State : int { free, taken, ended };
    std::atomic<State> state{State::free};
    ProductEntry* entry = nullptr;
    void* context = nullptr;  ///< of the events
    void* from = nullptr;
    void* to = nullptr;
  };

 private:
  struct Other {
    std::atomic<const char*> function{nullptr};
    std::atomic<std::uint64_t> calls{0};
  };
  std::string file_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::array<Sample, 512> samples_;
  std::atomic<std::size_t> next_{0};
  std::array<Other, 32> others_;
};

}  // namespace kiln::blas
