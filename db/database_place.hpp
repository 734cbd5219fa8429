// The message when default_database_path() is empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {

inline constexpr const char* kNoDatabasePlace =
    "there is no place for the database: none of KILN_DB, XDG_DATA_HOME and HOME is set";

}  // namespace kiln
