// The number that a cell holds, in each form that an operation computes in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/expression/cell.hpp"

namespace kiln::expression {

[[nodiscard]] inline bool is_numeric(const Cell& cell) {
  return cell.kind == CellKind::boolean || cell.kind == CellKind::integer ||
         cell.kind == CellKind::real || cell.kind == CellKind::wide;
}

[[nodiscard]] inline std::int64_t integer_of(const Cell& cell) {
  return cell.kind == CellKind::integer ? cell.integer : static_cast<std::int64_t>(cell.boolean);
}

/// Of a whole number.
[[nodiscard]] inline Int128 wide_of(const Cell& cell) {
  if (cell.kind != CellKind::wide) return integer_of(cell);
  return Int128{cell.high} * (Int128{1} << 64) + static_cast<std::uint64_t>(cell.integer);
}

[[nodiscard]] inline double real_of(const Cell& cell) {
  if (cell.kind == CellKind::real) return cell.real;
  if (cell.kind == CellKind::wide) return static_cast<double>(wide_of(cell));
  return cell.kind == CellKind::integer ? static_cast<double>(cell.integer)
                                        : static_cast<double>(cell.boolean);
}

/// The cell in 64 bits: a number beyond them as the nearest real one.
[[nodiscard]] inline Cell narrowed(const Cell& cell) {
  return cell.kind == CellKind::wide ? Cell(real_of(cell)) : cell;
}

}  // namespace kiln::expression
