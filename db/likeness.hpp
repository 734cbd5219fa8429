// How alike two problems are, and two devices: what lookups rank by.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/problem.hpp"

namespace kiln {

/// Added to the distance for each field that is no number and differs, in doublings of a size: a
/// choice (`op`, `trans_a`) or a formula, and an element type of the same size (f16 for bf16).
inline constexpr double kUnlikeChoice = 2;
inline constexpr double kUnlikeDtype = 1;

struct Likeness {
  /// That of the sizes (core/problem_distance.hpp), plus the terms above.
  double distance = 0;
  std::vector<std::string> unlike;  ///< fields that are no numbers and differ, in the spec's order
};

/// nullopt when the problems cannot stand for each other: an element type of another size differs.
[[nodiscard]] std::optional<Likeness> likeness(const KernelSpec& spec, const Problem& a,
                                               const Problem& b);

/// How differently vector loads fit the sizes, in doublings: a quarter for each power of two up to
/// 64 that divides a size of one problem and not that of the other. Part of no distance that is
/// shown, only of the ranking: 4095 is next to 4096, and yet 2048 tells more of it.
[[nodiscard]] double alignment_gap(const KernelSpec& spec, const Problem& a, const Problem& b);

/// What is best for a problem on one device is as good on another as what is best for a problem so
/// many doublings away (docs/lookup.md): on another of its architecture, and on any other.
inline constexpr double kSiblingApart = 0.5;
inline constexpr double kStrangerApart = 6;

/// 0 for a device and itself.
[[nodiscard]] double device_gap(const DeviceInfo& a, const DeviceInfo& b);

}  // namespace kiln
