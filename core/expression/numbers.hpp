// The number that a cell holds, in each form that an operation computes in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/expression/cell.hpp"
#include "core/expression/wide.hpp"

namespace kiln::expression {

[[nodiscard]] inline bool is_numeric(const Cell& cell) {
  return cell.kind == CellKind::boolean || cell.kind == CellKind::integer ||
         cell.kind == CellKind::real || cell.kind == CellKind::wide;
}

[[nodiscard]] inline double real_of(const Cell& cell) {
  if (cell.kind == CellKind::real) return cell.real;
  if (cell.kind == CellKind::wide) return cell.wide->to_double();
  return cell.kind == CellKind::integer ? static_cast<double>(cell.integer)
                                        : static_cast<double>(cell.boolean);
}

[[nodiscard]] inline std::int64_t integer_of(const Cell& cell) {
  return cell.kind == CellKind::integer ? cell.integer : static_cast<std::int64_t>(cell.boolean);
}

[[nodiscard]] inline Wide wide_of(const Cell& cell) {
  return cell.kind == CellKind::wide ? *cell.wide : Wide(integer_of(cell));
}

}  // namespace kiln::expression
