// Cell: what the evaluator computes with. A Value without ownership: 16 bytes, trivially copyable,
// strings by pointer into the slots or into the constants of the code, whole numbers beyond 64 bits
// by pointer to their one object (wide.hpp). Nothing here allocates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "core/expression/wide.hpp"
#include "core/value.hpp"

namespace kiln::expression {

enum class CellKind : std::uint8_t {
  unknown,  ///< depends on a name that has no value yet
  boolean,
  integer,
  real,
  string,
  fault,  ///< the operation failed; `fault` says how
  wide,   ///< a whole number beyond 64 bits
};

enum class Fault : std::uint8_t {
  division_by_zero,
  overflow,
  needs_number,
  needs_boolean,
  needs_like_types,  ///< ordering of a string and a number
  needs_positive_integer,
  needs_dtype,
  needs_strings,
  needs_integer,
  negative_shift,
  not_real,  ///< a root of a negative number
};

/// Whether integers stay integers, or every number is a real one as in the C source of a formula.
enum class Arithmetic : std::uint8_t { exact, real };

struct Cell {
  CellKind kind;
  union {
    bool boolean;
    std::int64_t integer;
    double real;
    const std::string* string;
    const Wide* wide;
    Fault fault;
  };

  Cell() noexcept {}  // NOLINT: left open, so that a frame of cells costs nothing to make
  explicit Cell(bool value) noexcept : kind(CellKind::boolean), boolean(value) {}
  explicit Cell(std::int64_t value) noexcept : kind(CellKind::integer), integer(value) {}
  explicit Cell(double value) noexcept : kind(CellKind::real), real(value) {}
  explicit Cell(const std::string* value) noexcept : kind(CellKind::string), string(value) {}
  explicit Cell(const Wide* value) noexcept : kind(CellKind::wide), wide(value) {}
  explicit Cell(Fault value) noexcept : kind(CellKind::fault), fault(value) {}

  static Cell unknown() noexcept {
    Cell cell(std::int64_t{0});
    cell.kind = CellKind::unknown;
    return cell;
  }
};

/// The cell points into `value` when that is a string; `value` must outlive it.
[[nodiscard]] inline Cell to_cell(const Value& value, Arithmetic arithmetic) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return arithmetic == Arithmetic::real ? Cell(static_cast<double>(*integer)) : Cell(*integer);
  }
  if (const auto* real = std::get_if<double>(&value)) return Cell(*real);
  if (const auto* boolean = std::get_if<bool>(&value)) return Cell(*boolean);
  return Cell(&std::get<std::string>(value));
}

/// The cell as a value of its own. Not for unknown, fault and wide.
[[nodiscard]] inline Value to_value(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::boolean:
      return cell.boolean;
    case CellKind::integer:
      return cell.integer;
    case CellKind::real:
      return cell.real;
    default:
      return *cell.string;
  }
}

/// Equal cells of one kind have equal bits. Wides are one object when they are equal; texts are
/// equal when they are one object, as those of a network are.
[[nodiscard]] inline std::uint64_t bits_of(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::boolean:
      return cell.boolean ? 1 : 0;
    case CellKind::real:
      return std::bit_cast<std::uint64_t>(cell.real);
    case CellKind::string:
      return std::bit_cast<std::uint64_t>(cell.string);
    case CellKind::wide:
      return std::bit_cast<std::uint64_t>(cell.wide);
    case CellKind::fault:
      return static_cast<std::uint64_t>(cell.fault);
    default:
      return static_cast<std::uint64_t>(cell.integer);
  }
}

/// The cell that bits_of made `bits` of.
[[nodiscard]] inline Cell cell_of(CellKind kind, std::uint64_t bits) {
  switch (kind) {
    case CellKind::boolean:
      return Cell(bits != 0);
    case CellKind::real:
      return Cell(std::bit_cast<double>(bits));
    case CellKind::string:
      return Cell(std::bit_cast<const std::string*>(bits));
    case CellKind::wide:
      return Cell(std::bit_cast<const Wide*>(bits));
    case CellKind::fault:
      return Cell(static_cast<Fault>(bits));
    default:
      break;
  }
  Cell cell(static_cast<std::int64_t>(bits));
  cell.kind = kind;
  return cell;
}

}  // namespace kiln::expression
