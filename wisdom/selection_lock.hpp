// Selection lock: a text that pins the selection of configs, so that all ranks of a job choose
// alike, whatever databases their machines hold. docs/lookup.md says how to use it.
//
// A header with the hash of the rest, then wisdom: what a selection depends on, besides the spec
// and the device. Measurements behind it stay in the database. The shipped rows are named by their
// hash: a Kiln that ships others does not follow the lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/records.hpp"

namespace kiln {

/// Which shipped rows belong to a lock, by reference.
struct LockedShipped {
  bool included = false;
  std::vector<std::string> devices;  ///< identities; none: of all devices
};

/// Returns the text of a lock. Equal bests in any order give equal text.
[[nodiscard]] std::string write_selection_lock(std::span<const BestRecord> bests,
                                               const LockedShipped& shipped = {});

/// The bests of a lock and the shipped rows that it names, in the locked layer. Throws InputError
/// "FILE:LINE: ..." for a text that is no lock, is damaged or was edited (its hash does not fit),
/// and for one that names other shipped rows than those of this Kiln.
[[nodiscard]] std::vector<BestRecord> read_selection_lock(std::string_view text,
                                                          const std::string& file);

}  // namespace kiln
