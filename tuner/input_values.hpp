// Values of inputs that are chosen, not drawn: those on edges, and what lies around a buffer.
//
// Random numbers hardly ever hit the values at which kernels go wrong: the first and the last of a
// range, a threshold that the caller passes, the numbers next to them. And a read past an end shows
// only when what lies there changes the result. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "templates/reference.hpp"
#include "tuner/guarded_buffer.hpp"
#include "tuner/toolbox.hpp"

namespace kiln {

/// The ends of the range of `fill`, zero, each of `thresholds` (scalars that the kernel is called
/// with), and the numbers of `dtype` next to all of them, as far as they lie in the range. For
/// floating-point types `high` itself is outside.
[[nodiscard]] std::vector<double> edge_values(const Fill& fill, DType dtype,
                                              std::span<const double> thresholds);

/// Puts one of `values` in the place of every fourth element, drawn from `seed`, and in the first
/// and the last one.
void place_values(HostArray& array, std::span<const double> values, std::uint64_t seed);

/// Exchanges the last element of each row (the last extent of `array`) with one that depends on
/// `seed` and the row, and then the first one with another. A row of rising elements has its
/// extremes there, and an extreme tells of one element only. Of seeds and rows that follow each
/// other every second one moves it on through all of 16 places in a vector, the others to a
/// multiple of some power of two or next to one.
void exchange_ends(HostArray& array, std::uint64_t seed);

/// Changes each row (the last extent of `array`, filled as `fill` says) so that, in turn, it stays
/// as it is, has its smallest or its largest element at zero, or only elements above or below zero:
/// extremes are of either sign then, and of none. The seed says with which of the five the first
/// row begins. Elements stay in the range of the fill and in their order, those of "integers" whole
/// numbers. Among zeros of floating-point types are negative ones. Nothing changes where the range,
/// or the type, has no sign.
void shift_rows(HostArray& array, const Fill& fill);

enum class ZoneSide { before, behind };

/// What one red zone of an input holds: elements that change a result which they get into, in turn
/// larger than all others, smaller than all others, and such as the input might hold itself (a
/// histogram counts no other). `turn` says with which of the three it begins at the buffer's end.
[[nodiscard]] ZoneBytes input_zone(const Fill& fill, DType dtype, ZoneSide side,
                                   std::uint64_t turn);

}  // namespace kiln
