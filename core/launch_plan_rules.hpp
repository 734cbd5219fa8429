// What the parts of Setting::plan() share; private to core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/launch_plan.hpp"

namespace kiln {
namespace plan_rules {

/// Thrown by the parts; Setting::plan() turns it into a Failure {constraint, message}.
struct Illegal {
  std::string message;
};

[[noreturn]] void illegal(std::string message);

/// The element type that `expression` names; `name` is whose, for the message.
[[nodiscard]] DType element_type(const Expression& expression, const std::string& name,
                                 const Scope& scope);

}  // namespace plan_rules

/// Evaluates `map` over `scope` and holds it against the rules of the hardware. `plan` has the
/// buffers already. Throws Illegal or EvaluationError.
[[nodiscard]] TensorMapPlan plan_tensor_map(const TensorMap& map, const LaunchPlan& plan,
                                            const DeviceInfo& device, const Scope& scope);

}  // namespace kiln
