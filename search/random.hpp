// Random numbers that are the same on every machine: the standard engines are, the standard
// distributions are not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace kiln {

/// A seeded source of random numbers. Not for several threads.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, bound); bound must not be 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    // Values past the last full multiple of bound would favour small results: draw again.
    const std::uint64_t excess = (UINT64_MAX % bound + 1) % bound;
    std::uint64_t drawn = engine_();
    while (drawn > UINT64_MAX - excess) drawn = engine_();
    return drawn % bound;
  }

  /// Uniform in [0, 1).
  [[nodiscard]] double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace kiln
