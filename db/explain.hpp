// The errors of SQLite in the user's words. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace SQLite {
class Exception;
}

namespace kiln {

[[nodiscard]] bool is_full_disk(const SQLite::Exception& error);
[[nodiscard]] bool is_locked(const SQLite::Exception& error);
inline constexpr const char* kLocked = "is locked by another program";
inline constexpr const char* kAfterLocked = "; try again when that has ended";
inline constexpr const char* kFullDisk = "the disk is full";
inline constexpr const char* kAfterFullDisk =
    "; what was stored before is kept; make room, then run the same command again";

/// Returns the meaning of the error and what to do, as text that follows "FILE: ".
[[nodiscard]] std::string explain(const SQLite::Exception& error);

}  // namespace kiln
