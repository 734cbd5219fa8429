// The order of values: comparisons, and min and max, which follow from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/expression/cell.hpp"
#include "core/expression/tree.hpp"

namespace kiln::expression {

/// `operation` is one of < <= > >= == !=. Numbers are compared exactly, as in Python; a string is
/// not equal to a number and has no order beside it (needs_like_types).
[[nodiscard]] Cell compare(Operation operation, const Cell& a, const Cell& b);

/// The smaller or larger one of two numbers: one of the operands, as in Python.
[[nodiscard]] Cell choose(Operation operation, const Cell& a, const Cell& b);

}  // namespace kiln::expression
