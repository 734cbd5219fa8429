// Bounds on what a database file of unknown origin can make SQLite do. Private to db/.
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

}  // namespace kiln
