// Loop: what the main loop of a launch does, as a spec states it, so that the time of a config can
// be forecast before anything is compiled (search/loop_time.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/expression.hpp"
#include "core/scope.hpp"

namespace kiln {

/// The numbers of the table [variants.loop], for one block of the launch that it names. If blocks
/// differ, they are those of the block with the most work.
template <class Number>
struct LoopOf {
  Number rounds;           ///< of the loop, over the life of the block
  Number flops;            ///< arithmetic operations of a round
  Number flops_per_cycle;  ///< of a compute unit, by the instructions that the loop uses
  Number copied;           ///< bytes of a round from global to shared memory
  Number read;             ///< bytes of a round from shared memory
  Number ahead;            ///< rounds whose copies are under way at the same time
  Number results;          ///< times that the block stores results while it does not loop
  Number stored;           ///< bytes each time
  Number prepared;         ///< bytes that launches before it move, of all blocks
  Number registers;        ///< of a thread, as far as known; 0: they limit nothing
};

struct Loop : LoopOf<Expression> {
  std::string entry;  ///< of the launch that has the loop
};
using LoopNumbers = LoopOf<double>;

/// A key of the table.
struct LoopField {
  const char* key;
  const char* fallback;  ///< expression where the key is absent; nullptr: it must be there
  Expression LoopOf<Expression>::*expression;
  double LoopNumbers::*number;
};

[[nodiscard]] const std::array<LoopField, 10>& loop_fields();

/// nullopt where an expression has no finite value of 0 or more: nothing can be said then.
[[nodiscard]] std::optional<LoopNumbers> evaluate(const Loop& loop, const Scope& scope);

}  // namespace kiln
