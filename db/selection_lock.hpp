// Selection lock: a text that pins which configs are chosen, so that all ranks of a job choose
// alike whatever databases their machines hold. docs/lookup.md tells how it is used.
//
// A header with the hash of the rest, then wisdom: everything a selection depends on, besides the
// spec and the device, is in the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.hpp"

namespace kiln {

/// The layer of locked rows. Their driver, compiler and template do not rank them: a rank whose
/// driver is another one chooses like the others.
inline constexpr int kLockedLayer = -1;

/// Equal bests in any order give equal text.
[[nodiscard]] std::string write_selection_lock(std::span<const BestRecord> bests);

/// The bests of a lock, in the locked layer. Throws InputError "FILE:LINE: ..." for a text that is
/// no lock, is damaged or was edited (its hash does not fit).
[[nodiscard]] std::vector<BestRecord> read_selection_lock(std::string_view text,
                                                          const std::string& file);

}  // namespace kiln
