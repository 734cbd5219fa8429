// Units of time as tuners spell them. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace kiln::interchange {

/// Nanoseconds of "ms", "Milliseconds", "usec", ... in any case; nullopt for what is no unit of
/// time.
[[nodiscard]] std::optional<double> nanoseconds_of_unit(std::string_view unit);

inline constexpr double kNsPerMs = 1e6;

/// For messages.
inline constexpr std::string_view kTimeUnits = "s, ms, us or ns, or their names in full";

}  // namespace kiln::interchange
