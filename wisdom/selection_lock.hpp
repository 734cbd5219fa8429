// Selection lock: a text that pins the selection of configs. All ranks of a job then choose the
// same configs, whatever databases their machines hold. docs/lookup.md describes its use.
//
// The text is a header with the hash of the rest, then wisdom: everything that a selection depends
// on except the spec and the device. The samples stay in the database. The lock names the shipped
// rows by their hash; a Kiln that ships other rows does not follow the lock.
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
/// "FILE:LINE: ..." if the text is not a lock, is damaged or was edited (its hash does not match),
/// or if it names other shipped rows than this Kiln has.
[[nodiscard]] std::vector<BestRecord> read_selection_lock(std::string_view text,
                                                          const std::string& file);

}  // namespace kiln
