// Running compiled expressions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/expression/code.hpp"

namespace kiln::expression {

/// The result, `unknown` when it depends on a slot that is nullptr. A string result points into a
/// slot or into the code. One slot per name. Throws EvaluationError.
[[nodiscard]] Cell run(const Expression::Code& code, std::span<const Value* const> slots);

/// Throws EvaluationError with the place of `offset` and the text of the expression.
[[noreturn]] void throw_evaluation_error(const Expression::Code& code, std::size_t offset,
                                         const std::string& message);

}  // namespace kiln::expression
