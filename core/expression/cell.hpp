// Cell: what the evaluator computes with. A Value without ownership: 16 bytes, trivially copyable,
// strings by pointer into the slots or into the constants of the code. Whole numbers may have 96
// bits on the way, so that products of large tunables compare as numbers. Nothing here allocates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "core/value.hpp"

namespace kiln::expression {

__extension__ using Int128 = __int128;

enum class CellKind : std::uint8_t {
  unknown,  ///< depends on a name that has no value yet
  boolean,
  integer,
  real,
  string,
  fault,  ///< the operation failed; `fault` says how
  wide,   ///< a whole number beyond 64 bits: `high` and `integer`
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
  std::int32_t high;  ///< wide: what is beyond the 64 bits of `integer`
  union {
    bool boolean;
    std::int64_t integer;
    double real;
    const std::string* string;
    Fault fault;
  };

  Cell() noexcept {}  // NOLINT: left open, so that a frame of cells costs nothing to make
  explicit Cell(bool value) noexcept : kind(CellKind::boolean), boolean(value) {}
  explicit Cell(std::int64_t value) noexcept : kind(CellKind::integer), integer(value) {}
  explicit Cell(double value) noexcept : kind(CellKind::real), real(value) {}
  explicit Cell(const std::string* value) noexcept : kind(CellKind::string), string(value) {}
  explicit Cell(Fault value) noexcept : kind(CellKind::fault), fault(value) {}

  /// An integer, wide, or an overflow beyond 96 bits.
  static Cell whole(Int128 value) noexcept {
    Cell cell(static_cast<std::int64_t>(value));
    if (cell.integer == value) return cell;
    cell.kind = CellKind::wide;
    cell.high = static_cast<std::int32_t>(value >> 64);
    return cell.high == value >> 64 ? cell : Cell(Fault::overflow);
  }
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

/// Equal cells of one kind have equal bits; texts when they are one object, as those of a network
/// are. Of a wide one these are the lower 64.
[[nodiscard]] inline std::uint64_t bits_of(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::boolean:
      return cell.boolean ? 1 : 0;
    case CellKind::real:
      return std::bit_cast<std::uint64_t>(cell.real);
    case CellKind::string:
      return std::bit_cast<std::uint64_t>(cell.string);
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
