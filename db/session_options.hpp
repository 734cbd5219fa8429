// Session options: what changes the results of a session beside the other fields of SessionKey.
//
// They are one canonical text, SessionKey::options: words "name=value" with single spaces between.
// Sessions are found by that text, so its writer (tuner/session/session_log.cpp) must not change
// the order of words or how a value is written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kiln {

namespace session_option {
inline constexpr std::string_view kCache = "cache";           ///< "cold" or "warm"
inline constexpr std::string_view kVariants = "variants";     ///< "all", or names with commas
inline constexpr std::string_view kWarmStart = "warm_start";  ///< "off", or a number of configs
inline constexpr std::string_view kObjective = "objective";   ///< absent: the time
inline constexpr std::string_view kLastLevel = "last_level";  ///< bytes of DeviceInfo
inline constexpr std::string_view kAgainst = "against";       ///< absent: no library
inline constexpr std::string_view kRecorded = "recorded";     ///< hash of recorded arrays
inline constexpr std::string_view kComputes = "computes";     ///< computation_hash() of the spec
inline constexpr std::string_view kLaunches = "launches";     ///< launch_hash() by variant
/// Without a value: the session was imported. It never answers or continues a `kiln tune` of this
/// machine. Wisdom text does not carry it.
inline constexpr std::string_view kImported = "imported";
}  // namespace session_option

/// Returns the value of an option: a part of `options`; nullopt if it is absent.
[[nodiscard]] std::optional<std::string_view> find_option(std::string_view options,
                                                          std::string_view name);

/// Appends an option; an empty `value` appends its name alone.
void add_option(std::string& options, std::string_view name, std::string_view value = {});

/// Returns `options` without the option of this name.
[[nodiscard]] std::string without_option(std::string_view options, std::string_view name);

}  // namespace kiln
