// SPDX-License-Identifier: Apache-2.0
#include "core/loop.hpp"

#include <cmath>

namespace kiln {

const std::array<LoopField, 10>& loop_fields() {
  static const std::array<LoopField, 10> kFields = {{
      {"rounds", nullptr, &Loop::rounds, &LoopNumbers::rounds},
      {"flops", nullptr, &Loop::flops, &LoopNumbers::flops},
      {"flops_per_cycle", nullptr, &Loop::flops_per_cycle, &LoopNumbers::flops_per_cycle},
      {"copied", "0", &Loop::copied, &LoopNumbers::copied},
      {"read", "0", &Loop::read, &LoopNumbers::read},
      {"ahead", "1", &Loop::ahead, &LoopNumbers::ahead},
      {"results", "1", &Loop::results, &LoopNumbers::results},
      {"stored", "0", &Loop::stored, &LoopNumbers::stored},
      {"prepared", "0", &Loop::prepared, &LoopNumbers::prepared},
      {"registers", "0", &Loop::registers, &LoopNumbers::registers},
  }};
  return kFields;
}

std::optional<LoopNumbers> evaluate(const Loop& loop, const Scope& scope) {
  LoopNumbers out{};
  try {
    for (const LoopField& field : loop_fields()) {
      const double value = (loop.*field.expression).evaluate_number(scope);
      if (!std::isfinite(value) || value < 0) return std::nullopt;
      out.*field.number = value;
    }
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace kiln
