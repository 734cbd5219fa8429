// Units of time as tuners spell them. Private to interchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace kiln::interchange {

/// Nanoseconds of "ms", "Milliseconds", "usec", ... in any case; nullopt for what is no unit of
/// time.
[[nodiscard]] std::optional<double> nanoseconds_of_unit(std::string_view unit);

/// Nanoseconds of the unit that an object states for all times of a file ("timeunit", "time_unit",
/// "TimeUnit"); nullopt where it states none. Throws InputError naming the key and the unit for one
/// that is not known.
[[nodiscard]] std::optional<double> stated_unit(const nlohmann::ordered_json& holder,
                                                const std::string& path);

inline constexpr double kNsPerMs = 1e6;

/// For messages.
inline constexpr std::string_view kTimeUnits = "s, ms, us or ns, or their names in full";

}  // namespace kiln::interchange
