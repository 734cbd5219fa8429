// The distance between two problems, and between two devices. Lookups rank by it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"

namespace kiln {

/// Added to the distance, in doublings, for each field that differs and is not a number: a choice
/// (`op`, `trans_a`) or a formula, and an element type of the same size (f16 for bf16).
inline constexpr double kUnlikeChoice = 2;
inline constexpr double kUnlikeDtype = 1;

struct Likeness {
  /// The distance of the sizes (core/problem_distance.hpp) plus the terms above, in doublings.
  double distance = 0;
  std::vector<std::string> unlike;  ///< fields that differ and are not numbers, in the spec's order
};

/// Returns nullopt if one problem cannot answer for the other: an element type has another size.
[[nodiscard]] std::optional<Likeness> likeness(const KernelSpec& spec, const Problem& a,
                                               const Problem& b);

/// How differently vector loads fit the sizes, in doublings: a quarter for each power of two up to
/// 64 that divides a size of one problem but not of the other. Counts in the ranking only, not in
/// the printed distance: 4095 is near 4096, but its best config cannot use wide loads.
[[nodiscard]] double alignment_gap(const KernelSpec& spec, const Problem& a, const Problem& b);

/// The handicap of a best of another device, in doublings: as much as a problem this far away. For
/// a device of the same architecture, and for any other.
inline constexpr double kSiblingApart = 0.5;
inline constexpr double kStrangerApart = 6;

/// Returns the handicap between two devices; 0 for a device and itself.
[[nodiscard]] double device_gap(const DeviceInfo& a, const DeviceInfo& b);

}  // namespace kiln
