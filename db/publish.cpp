// SPDX-License-Identifier: Apache-2.0
#include "db/publish.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/errors.hpp"
#include "db/explain.hpp"
#include "db/file_system.hpp"
#include "db/merge.hpp"
#include "db/schema.hpp"
#include "db/server/server_place.hpp"
#include "db/sqlite_database.hpp"
#include "db/writer_lock.hpp"

namespace kiln {
namespace fs = std::filesystem;

namespace {

// A reader's connection may not write; this writes the copy and nothing else.
void vacuum_into(SQLite::Database& database, const fs::path& copy) {
  const bool reader = database.execAndGet("PRAGMA query_only").getInt() != 0;
  database.exec("PRAGMA query_only = OFF");
  show_as_stored(database);
  SQLite::Statement vacuum(database, "VACUUM INTO ?");
  vacuum.bind(1, copy.string());
  vacuum.exec();
  show_as_current(database);
  if (reader) {
    database.exec("PRAGMA query_only = ON");
  }
}

/// Is there nothing yet, or a database?
bool may_be_replaced(const fs::path& target) {
  std::error_code error;
  if (!fs::exists(target, error) || fs::file_size(target, error) == 0) return true;
  return is_sqlite_file(target);
}

}  // namespace

fs::path temporary_for(const fs::path& target) {
  return target.string() + ".tmp-" + std::to_string(::getpid());
}

void require_at_rest(const fs::path& target) {
  for (const char* suffix : {"-wal", "-journal"}) {
    std::error_code error;
    const fs::path beside = target.string() + suffix;
    if (fs::exists(beside, error)) {
      throw DatabaseError(target.string() + ": its writer was stopped in the middle and left " +
                          beside.string() + "; `kiln db check` takes that up");
    }
  }
}

void replace_file(const fs::path& temporary, const fs::path& target) {
  std::error_code error;
  if (!sync_to_disk(temporary)) {
    const std::string reason = std::strerror(errno);
    fs::remove(temporary, error);
    throw DatabaseError(temporary.string() + ": cannot be written to the disk: " + reason);
  }
  fs::rename(temporary, target, error);
  if (error) {
    const std::string reason = error.message();
    fs::remove(temporary, error);
    throw DatabaseError(target.string() + ": cannot be replaced: " + reason);
  }
  // Makes the new name durable; the content already is, and without it the old file is whole.
  static_cast<void>(sync_to_disk(folder_of(target)));
}

void publish_copy(sql::Database& database, const fs::path& source, const fs::path& name) {
  std::error_code error;
  const fs::path target = linked_file(name);
  if (fs::equivalent(target, source, error)) {
    throw DatabaseError(target.string() + ": is the database itself; publish to another file");
  }
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    throw DatabaseError(target.string() + ": is no file; publish to a file");
  }
  if (!may_be_replaced(target)) {
    throw DatabaseError(target.string() + ": is no database; publish to another file");
  }
  if (!fs::is_directory(folder_of(target), error)) {
    throw DatabaseError(target.string() + ": there is no folder " + folder_of(target).string());
  }
  const WriterLock lock(target);
  require_at_rest(target);
  const fs::path temporary = temporary_for(target);
  fs::remove(temporary, error);
  try {
    if (names_server(source)) {
      write_file_of(source, temporary);
    } else {
      vacuum_into(dynamic_cast<SqliteDatabase&>(database).file(), temporary);
    }
    // The copy of a file with a WAL would ask for one.
    SQLite::Database(temporary.string(), SQLite::OPEN_READWRITE)
        .exec("PRAGMA journal_mode = DELETE");
  } catch (const SQLite::Exception& failure) {
    fs::remove(temporary, error);
    throw DatabaseError(target.string() + ": publishing " + source.string() +
                        " ended: " + explain(failure));
  }
  replace_file(temporary, target);
}

}  // namespace kiln
