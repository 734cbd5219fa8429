// StateLayer: the different states that combinations of the first k tunables can be in. Private to
// search.
//
// A state is the cells of the registers that later rules still need. Two combinations in one state
// have the same legal continuations, so each state is looked at once, however many lead to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/rule_set.hpp"

namespace kiln {

class StateLayer {
 public:
  explicit StateLayer(std::vector<expression::Register> live);

  [[nodiscard]] std::size_t size() const { return weights_.size(); }
  /// Combinations that lead to the state; saturates.
  [[nodiscard]] std::uint64_t weight(std::size_t state) const { return weights_[state]; }
  [[nodiscard]] const std::vector<expression::Register>& live() const { return live_; }

  /// The state of these registers, which `weight` more combinations lead to.
  std::uint32_t add(const expression::Cell* registers, std::uint64_t weight);
  /// Writes the state's cells into their registers.
  void load(std::size_t state, expression::Cell* registers) const;

 private:
  void pack(const expression::Cell* registers);
  void grow();

  std::vector<expression::Register> live_;
  std::size_t words_;                  // of a key: the cells' bits, then their kinds
  std::vector<std::uint64_t> keys_;    // words_ per state
  std::vector<std::uint64_t> packed_;  // the key that is being looked for
  std::vector<std::uint64_t> weights_;
  std::vector<std::uint32_t> table_;  // open addressing; kFree or a state
};

}  // namespace kiln
