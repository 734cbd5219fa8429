// Constraints as sentences: a rule that does not hold, with the numbers in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/expression.hpp"

namespace kiln {

/// Value of `expression` where some names may have none (a tunable that does not exist in this
/// config): nullopt when the result depends on them.
[[nodiscard]] std::optional<Value> evaluate_known(const Expression& expression, const Scope& scope);

/// Does the rule hold? A rule whose answer depends on a tunable that does not exist here does not
/// apply and so holds. Throws EvaluationError for a rule that has no truth value.
[[nodiscard]] bool holds(const Expression& rule, const Scope& scope);

/// Returns whether a part of the spec with this `when` exists. It does not if the answer depends on
/// a tunable that does not exist here. Throws EvaluationError for a `when` that has no truth value.
[[nodiscard]] bool exists(const Expression& when, const Scope& scope);

/// Why `rule` is false: "rows * cols <= limit: 65536 <= 49152 is false" for comparisons (the first
/// broken part of a conjunction), otherwise "rule is false with a = 1, b = 2".
[[nodiscard]] std::string explain_false(const Expression& rule, const Scope& scope);

}  // namespace kiln
