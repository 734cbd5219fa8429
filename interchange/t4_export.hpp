// Bests as T4 files, the JSON form of the FAIR auto-tuning toolset that interchange/t4.hpp
// reads: one file for each best, with the trials of its variant in its session.
//
// T4 has no place for problem, device and evidence. The file carries them as the best's wisdom in
// its metadata, so `kiln db import` loses nothing. Other programs ignore it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "db/records.hpp"

namespace kiln {

/// The value of a tunable that does not exist for a config: all configs of a T4 file must have the
/// same tunables.
inline constexpr std::string_view kNoSuchTunable = "-";

/// `trials` are those of the best's session; those of other variants are left out. Times are in
/// milliseconds. Ends with a newline.
[[nodiscard]] std::string write_t4(const BestRecord& best, std::span<const TrialRecord> trials);

/// Returns the wisdom inside a text of write_t4(), as text for read_wisdom(); nullopt for any other
/// text.
[[nodiscard]] std::optional<std::string> wisdom_in_t4(std::string_view text);

}  // namespace kiln
