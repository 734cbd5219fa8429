// Calls that SQLiteCpp does not offer: limits for database files of unknown origin, and access to
// the file's first bytes. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace SQLite {
class Database;
}

namespace kiln {

/// For every connection: does not trust the file's schema, and checks pages as they are read.
void distrust(SQLite::Database& database);

/// For readers: a value may not be longer than the file, and a statement may not take more steps
/// than a file of this size can need. A longer statement ends with SQLITE_INTERRUPT. Otherwise a
/// damaged or hostile tree of pages, whose branches lead back into it, would be walked for years.
void limit_work(SQLite::Database& database, const std::filesystem::path& path);

/// Returns whether the file's header asks for a WAL (bytes 18 and 19 are 2). True for a file whose
/// writer was killed. Reads through SQLite's own descriptor: closing another descriptor of the file
/// would drop the locks of all of this process's connections to it.
[[nodiscard]] bool header_asks_for_wal(SQLite::Database& database);

/// Whether the file was removed, or another one took its name, since it was opened.
[[nodiscard]] bool has_moved(SQLite::Database& database);

}  // namespace kiln
