// Publishing: a compact copy of a database that replaces another file in one step. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace SQLite {
class Database;
}

namespace kiln {

/// Writes what `database` (the file `source`) holds to `name`, or to the file that it leads to
/// where it is a link, complete or not at all: a temporary file, fsync, rename. Readers of the old
/// file go on reading it. Holds the writer's lock of the target meanwhile. Throws DatabaseError, or
/// SQLite::Exception.
void publish_copy(SQLite::Database& database, const std::filesystem::path& source,
                  const std::filesystem::path& name);

/// The last step of it: makes the file `temporary` durable and gives it the name `target`; removes
/// it where that fails. The caller holds the writer's lock of `target`.
void replace_file(const std::filesystem::path& temporary, const std::filesystem::path& target);

/// Throws DatabaseError when `target` is a database whose last rows still lie in a file beside it:
/// they would be taken for rows of what replaces it.
void require_at_rest(const std::filesystem::path& target);

/// The name under which a file is written before it replaces `target`: beside it, this process's
/// own.
[[nodiscard]] std::filesystem::path temporary_for(const std::filesystem::path& target);

}  // namespace kiln
