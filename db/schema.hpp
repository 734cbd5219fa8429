// The schema of the database, and the migration of older files. docs/database_format.md
// explains it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace SQLite {
class Database;
}
namespace kiln::sql {
class Database;
}

namespace kiln {

inline constexpr int kSchemaVersion = 5;
/// "KILN" in ASCII: tells our files from other SQLite files.
inline constexpr int kApplicationId = 0x4b494c4e;

/// Creates the schema in an empty file or migrates an older one, in one transaction. Throws
/// DatabaseError for a file of another application or of a newer Kiln, before it changes anything.
/// `name`: the file's name in messages.
void prepare_schema(SQLite::Database& database, const std::string& name);

/// Like prepare_schema(), but only checks: for readers.
void require_schema(SQLite::Database& database, const std::string& name);
/// Gives an older file, which a reader cannot migrate, the shape of today's schema: temporary views
/// of this connection hide its tables and add what a migration would add. So every query has one
/// text. Changes nothing in the file, but fails after "PRAGMA query_only = ON". A file that is
/// migrated while it is open keeps the old content here.
void show_as_current(SQLite::Database& database);
/// Undoes show_as_current(): "VACUUM INTO" would take the views for the tables that they hide.
void show_as_stored(SQLite::Database& database);

/// The same for a server, whose tables lie in the schema "kiln". A role that may not create tables
/// may use those that are there. Throws sql::Error for what the server refuses.
void prepare_server_schema(sql::Database& database, const std::string& name);
void require_server_schema(sql::Database& database, const std::string& name);
/// Throws DatabaseError if the server is older and refuses temporary views to this role.
void show_server_as_current(sql::Database& database, const std::string& name);

}  // namespace kiln
