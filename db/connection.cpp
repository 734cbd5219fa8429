// SPDX-License-Identifier: Apache-2.0
#include "db/connection.hpp"

#include <unistd.h>

#include <system_error>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "db/database_place.hpp"
#include "db/file_system.hpp"
#include "db/native_sqlite.hpp"
#include "db/schema.hpp"
#include "db/server/server_place.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr int kBusyMilliseconds = 5000;

// '?' and '#' end the path of a URI, '%' starts an escape.
std::string immutable_uri(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    switch (c) {
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      case '%':
        uri += "%25";
        break;
      default:
        uri += c;
    }
  }
  return uri + "?immutable=1";
}

// A reader of a file that asks for a WAL must write beside it and into it. Where it may not, a file
// without a WAL is complete and read as it lies.
bool must_read_as_it_lies(SQLite::Database& database, const fs::path& path) {
  if (!header_asks_for_wal(database)) {
    return false;
  }
  const bool on_network = is_network_file_system(folder_of(path));
  const bool may_write =
      ::access(folder_of(path).c_str(), W_OK) == 0 && ::access(path.c_str(), W_OK) == 0;
  if (may_write && !on_network) {
    return false;
  }
  std::error_code error;
  if (!fs::exists(path.string() + "-wal", error)) {
    return true;
  }
  throw DatabaseError(path.string() + ": its writer was stopped in the middle and left " +
                      path.string() +
                      "-wal, which can only be taken up where the file may be written" +
                      (on_network ? ", on a local disk" : "") + "; `kiln db check` there does so");
}

}  // namespace

FileConnection::FileConnection(const fs::path& path, Store::Mode mode)
    : FileConnection(path,
                     mode == Store::Mode::write ? std::make_unique<WriterLock>(path) : nullptr) {
  if (mode == Store::Mode::write) return;
  try {
    open_for_reading(path, mode);
  } catch (const SQLite::Exception& error) {
    throw translated(error);
  }
}

FileConnection::FileConnection(const fs::path& path, std::unique_ptr<WriterLock> lock)
    : lock_(std::move(lock)) {
  if (lock_ == nullptr) return;
  try {
    open_for_writing(path);
  } catch (const SQLite::Exception& error) {
    throw translated(error);
  }
}

void FileConnection::open_for_writing(const fs::path& path) {
  std::error_code error;
  const bool is_new = !fs::exists(path, error);
  database_ = std::make_unique<SqliteDatabase>(std::make_unique<SQLite::Database>(
      path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds));
  SQLite::Database& file = database_->file();
  distrust(file);
  // A commit that returned is on the disk. EXTRA is FULL and syncs the folder when a rollback
  // journal is removed: that removal is the commit.
  file.exec("PRAGMA synchronous = EXTRA");
  const bool on_network = is_network_file_system(folder_of(path));
  if (on_network) {
    // Without shared memory, should an earlier writer have left a WAL here.
    file.exec("PRAGMA locking_mode = EXCLUSIVE");
  }
  prepare_schema(file, path.string());
  if (on_network) {
    file.exec("PRAGMA journal_mode = DELETE");
    file.exec("PRAGMA locking_mode = NORMAL");
    static_cast<void>(file.execAndGet("SELECT count(*) FROM sqlite_schema"));  // lets it go
  } else {
    // Where readers hold the file for long, the rollback journal does as well.
    file.tryExec("PRAGMA journal_mode = WAL");
  }
  file.exec("PRAGMA foreign_keys = ON");
  if (is_new && !sync_to_disk(folder_of(path))) {
    throw DatabaseError(path.string() + ": its folder cannot be synced to the disk");
  }
}

void FileConnection::open_for_reading(const fs::path& path, Store::Mode mode) {
  if (mode == Store::Mode::read) {
    // Not OPEN_READONLY: a reader that meets what a killed writer left takes it into the file and
    // cleans up, as only a connection that may write can. query_only keeps rows as they are.
    database_ = std::make_unique<SqliteDatabase>(std::make_unique<SQLite::Database>(
        path.string(), SQLite::OPEN_READWRITE, kBusyMilliseconds));
  }
  if (mode == Store::Mode::immutable || must_read_as_it_lies(database_->file(), path)) {
    database_ = std::make_unique<SqliteDatabase>(std::make_unique<SQLite::Database>(
        immutable_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI));
  }
  SQLite::Database& file = database_->file();
  distrust(file);
  limit_work(file, path);
  require_schema(file, path.string());
  show_as_current(file);
  file.exec("PRAGMA query_only = ON");
}

FileConnection::~FileConnection() { come_to_rest(); }

std::unique_ptr<WriterLock> FileConnection::close() {
  come_to_rest();
  database_.reset();
  return std::move(lock_);
}

bool FileConnection::is_in_place() {
  SQLite::Database& file = database_->file();
  std::error_code error;
  const bool has_wal = std::filesystem::exists(file.getFilename() + "-wal", error);
  if (has_moved(file) || (had_wal_ && !has_wal)) return false;
  had_wal_ = has_wal;
  return true;
}

void FileConnection::require_in_place() {
  if (lock_ == nullptr || is_in_place()) return;
  const std::string path = database_->file().getFilename();
  throw DatabaseError(path +
                      ": was removed, or replaced by another file, while it was being written; "
                      "what it held is lost unless there is a copy of it");
}

// One file at rest. Readers that are in it now keep the WAL; the last of them cleans up.
void FileConnection::come_to_rest() noexcept {
  if (lock_ == nullptr || database_ == nullptr) {
    return;
  }
  try {
    if (has_moved(database_->file())) return;  // what has its name now is of others
    database_->file().setBusyTimeout(0);
    database_->file().tryExec("PRAGMA journal_mode = DELETE");
  } catch (const SQLite::Exception&) {
    // The WAL stays, and is complete.
  }
}

ServerConnection::ServerConnection(const fs::path& url, Store::Mode mode)
    : database_(std::make_unique<PostgresDatabase>(url, mode == Store::Mode::write
                                                            ? PostgresDatabase::Rights::write
                                                            : PostgresDatabase::Rights::read)) {
  if (mode == Store::Mode::write) {
    prepare_server_schema(*database_, shown_place(url));
  } else {
    require_server_schema(*database_, shown_place(url));
    show_server_as_current(*database_, shown_place(url));
  }
}

std::unique_ptr<Connection> open_connection(const fs::path& place, Store::Mode mode) {
  if (names_server(place)) return std::make_unique<ServerConnection>(place, mode);
  return std::make_unique<FileConnection>(place, mode);
}

void prepare_place(const fs::path& path, Store::Mode mode) {
  if (const std::string fault = server_url_fault(path); !fault.empty()) throw DatabaseError(fault);
  if (names_server(path)) return;
  std::error_code error;
  if (path.empty() && default_database_path().empty()) {
    throw DatabaseError(std::string(kNoDatabasePlace) + "; name a file with --db or KILN_DB");
  }
  // SQLite would take these for databases that nobody keeps, and for addresses with options.
  if (!path.has_filename() || path == ":memory:" || path.string().starts_with("file:")) {
    throw DatabaseError("'" + path.string() + "' names no database file; name one with --db");
  }
  if (fs::is_directory(path, error)) {
    throw DatabaseError(path.string() + ": is a folder; --db or KILN_DB names a file in it");
  }
  if (fs::exists(path, error) && !is_stored_file(path)) {
    throw DatabaseError(path.string() + ": is no file");
  }
  if (mode == Store::Mode::write) {
    fs::create_directories(folder_of(path), error);
    if (error) {
      throw DatabaseError(path.string() + ": cannot create its folder: " + error.message());
    }
  } else if (!fs::exists(path, error)) {
    throw DatabaseError(
        path.string() +
        ": there is no such database; `kiln tune` or `kiln sweep` creates one (--db names it)");
  }
}

}  // namespace kiln
