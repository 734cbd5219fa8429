// What SQLiteCpp does not offer: bounds on what a database file of unknown origin can make SQLite
// do, and a look at its first bytes. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace SQLite {
class Database;
}

namespace kiln {

/// For every connection: nothing in the file's schema is trusted, pages are checked as they are
/// read.
void distrust(SQLite::Database& database);

/// For readers: no value may be longer than the file, and no statement may take more steps than a
/// file of this size can be worth; it then ends with SQLITE_INTERRUPT. A damaged or hostile tree of
/// pages, whose branches lead back into it, would otherwise be walked for years.
void limit_work(SQLite::Database& database, const std::filesystem::path& path);

/// Does the file's header ask for a WAL (bytes 18 and 19 are 2)? True of files whose writer was
/// killed. Reads through SQLite's own descriptor: closing another one of the same file would drop
/// the locks of every connection that this process has to it.
[[nodiscard]] bool header_asks_for_wal(SQLite::Database& database);

}  // namespace kiln
