// Effort: how much may be looked at before an answer is given up. Private to search.
//
// Where legal configs are too rare to be drawn and too many indices lie between them, looking for
// one has no end. What looks for one takes an effort, spends it step by step (about a microsecond
// each) and stops when it is spent; a count, not a time, so that every run does the same.
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
