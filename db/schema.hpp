// Schema of the database file, and how older files are brought up to it. docs/database_format.md
// explains it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace SQLite {
class Database;
}

namespace kiln {

inline constexpr int kSchemaVersion = 3;
/// "KILN" in ASCII: tells our files from other SQLite files.
inline constexpr int kApplicationId = 0x4b494c4e;

/// Creates the schema in an empty file or migrates an older one, in one transaction.
/// Throws DatabaseError for a file of another application or of a newer Kiln, before anything is
/// changed. `name` is the file in messages.
void prepare_schema(SQLite::Database& database, const std::string& name);

/// The checks of prepare_schema without writing: for readers.
void require_schema(SQLite::Database& database, const std::string& name);

}  // namespace kiln
