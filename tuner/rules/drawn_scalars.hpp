// Draws other values for the scalars that a caller passes, and says what checks do not try.
//
// A kernel that holds the example of a scalar, ignores one whose example is 0, or clamps a factor
// is right for the example alone. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/setting.hpp"

namespace kiln {

/// This many consecutive draws contain every kind of value for each scalar.
inline constexpr std::size_t kScalarDraws = 8;

/// Returns a value for each scalar of the caller that exists for the problem and does not follow
/// from others; empty if there is none. The values lie within `low` and `high` of the spec. Without
/// them:
///
/// - floating-point numbers are in turn 0, 1, -1, a fraction, a negative fraction, a number of some
///   hundreds, and its negative;
/// - whole numbers go from the example towards zero, 1 excluded from becoming 0: they may be sizes.
[[nodiscard]] ScalarValues draw_scalars(const Setting& setting, std::uint64_t seed,
                                        std::size_t turn);

/// Ends the message of a config that is wrong with drawn scalars, or with special values.
inline constexpr const char* kScalarHint =
    "; if a scalar has no such values, state its range (low, high)";
inline constexpr const char* kSpecialHint =
    "; if an input has no such values, state its range (low, high) or special = false";

/// "alpha=0, beta=-1".
[[nodiscard]] std::string scalars_text(const ScalarValues& scalars);

/// Returns whether checks put special values into this input (docs/checks.md).
[[nodiscard]] bool takes_special_values(const Argument& argument, const Scope& scope);

/// Returns what the checks of a proved config try for this problem, a phrase each.
[[nodiscard]] std::vector<std::string> tried(const Setting& setting);

/// Returns what the checks of this problem leave out, a phrase each: the inputs whose range is
/// stated, and the checks that need a reference on the CPU.
[[nodiscard]] std::vector<std::string> not_tried(const Setting& setting);

}  // namespace kiln
