// Effort: the number of steps that a search for a legal config may take. Private to search.
//
// If legal configs are rare, a search for one might not end. Each search therefore spends an effort
// step by step, about a microsecond each, and stops when none is left. Steps are counted, not
// timed, so every run behaves the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace kiln {

class Effort {
 public:
  explicit Effort(std::size_t steps) : left_(steps) {}

  /// Takes one step; false: none was left.
  [[nodiscard]] bool spend() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  [[nodiscard]] bool is_spent() const { return left_ == 0; }
  /// Takes up to `steps` out of this effort, for a part of the work.
  [[nodiscard]] Effort take(std::size_t steps) {
    const std::size_t taken = std::min(steps, left_);
    left_ -= taken;
    return Effort(taken);
  }

 private:
  std::size_t left_;
};

}  // namespace kiln
