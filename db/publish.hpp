// Publishes a database: a compact copy replaces another file in one step. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kiln::sql {
class Database;
}

namespace kiln {

/// Writes the content of `database` (of the place `source`, a file or a server) to the file `name`,
/// completely or not at all: temporary file, fsync, rename. If `name` is a link, writes to its
/// target. Readers of the old file go on reading it. Holds the writer's lock of the target
/// meanwhile. Throws DatabaseError, or sql::Error.
void publish_copy(sql::Database& database, const std::filesystem::path& source,
                  const std::filesystem::path& name);

/// The last step of publishing: makes the file `temporary` durable and renames it to `target`. If
/// that fails, removes `temporary`. The caller holds the writer's lock of `target`.
void replace_file(const std::filesystem::path& temporary, const std::filesystem::path& target);

/// Throws DatabaseError if the last rows of the database `target` are still in a file beside it.
/// SQLite would take them for rows of the new file.
void require_at_rest(const std::filesystem::path& target);

/// Returns the name of the temporary file that will replace `target`: in the same folder, unique to
/// this process.
[[nodiscard]] std::filesystem::path temporary_for(const std::filesystem::path& target);

}  // namespace kiln
