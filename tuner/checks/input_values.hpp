// Chosen input values: values on edges, and the values around a buffer.
//
// Random numbers hardly ever hit the values at which kernels go wrong: the ends of a range, a
// threshold that the caller passes, and the numbers next to them. A read past an end shows only if
// the value there changes the result. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "templates/reference.hpp"
#include "tuner/checks/guarded_buffer.hpp"
#include "tuner/checks/toolbox.hpp"

namespace kiln {

/// Returns the ends of the range of `fill`, zero, each of `thresholds` (scalars that the kernel is
/// called with), and the numbers of `dtype` next to all of them, as far as they lie in the range.
/// For floating-point types `high` itself is outside.
[[nodiscard]] std::vector<double> edge_values(const Fill& fill, DType dtype,
                                              std::span<const double> thresholds);

/// Replaces every fourth element (drawn from `seed`), the first and the last by one of `values`.
void place_values(HostArray& array, std::span<const double> values, std::uint64_t seed);

enum class Scatter {
  few,   ///< each value once: of a sum, most terms are ordinary
  many,  ///< one of 61 elements; of three rows or more, one holds nothing but the last value
};
/// Puts each of `values` at places drawn from `seed`.
void scatter_values(HostArray& array, std::span<const double> values, Scatter scatter,
                    std::uint64_t seed);

/// Gives up to three elements, drawn from `seed`, the values of the first, the last and a drawn
/// element. Neither the first nor the last changes. A kernel that recognises its inputs by some of
/// their elements takes the array for the same.
void alter_few(HostArray& array, std::uint64_t seed);

/// The special values that checks put into inputs of `dtype`.
struct SpecialValues {
  std::vector<double> nans;
  std::vector<double> infinities;
  std::vector<double> tiny;    ///< -0 and subnormal numbers
  std::vector<double> limits;  ///< the largest and the lowest finite number
};
[[nodiscard]] SpecialValues special_values(DType dtype);

/// Exchanges the last element of each row (the last extent of `array`) with one that depends on
/// `seed` and the row, and then the first one with another. A row of rising elements has its
/// extremes there, and a result depends on the extreme alone. For every second of successive seeds
/// and rows, the extreme moves on through all 16 places of a vector. For the others it moves to a
/// multiple of a power of two, or next to one.
void exchange_ends(HostArray& array, std::uint64_t seed);

/// Changes each row (the last extent of `array`, filled as `fill` says) so that, in turn, it stays
/// as it is, has its smallest or its largest element at zero, or only elements above or below zero:
/// the extremes then have either sign, or are zero. The seed selects which of the five ways the
/// first row gets. Elements stay in the range of the fill and in their order, those of "integers"
/// whole numbers. Among zeros of floating-point types are negative ones. Changes nothing if the
/// range or the type has no sign.
void shift_rows(HostArray& array, const Fill& fill);

enum class ZoneSide { before, behind };

/// Returns the contents of one red zone of an input. Its elements change a result that uses them:
/// in turn larger than all others, smaller than all others, and a possible value of the input (a
/// histogram counts no other). `turn` selects which of the three comes first at the buffer's end.
[[nodiscard]] ZoneBytes input_zone(const Fill& fill, DType dtype, ZoneSide side,
                                   std::uint64_t turn);

}  // namespace kiln
