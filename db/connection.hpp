// Connection: a store opened the way Kiln opens one. Private to db/.
//
// An SQLite file may come from anybody. Before the first row is read, the schema is checked to hold
// only tables and indexes. Every statement has a limit on its work. At rest a database is one file:
// the writer turns its WAL back into the file when it closes, and readers leave no other file.
//
// A server has many writers; each session has one, whose connection holds the server's lock on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "db/server/postgres_database.hpp"
#include "db/sqlite_database.hpp"
#include "db/store.hpp"
#include "db/writer_lock.hpp"

namespace kiln {

class Connection {
 public:
  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] virtual sql::Database& database() const = 0;
  /// True once its server went away: only another connection can succeed.
  [[nodiscard]] virtual bool is_lost() const { return false; }
  /// Throws DatabaseError if what this connection writes is where nobody finds it.
  virtual void require_in_place() {}
};

class FileConnection final : public Connection {
 public:
  /// Opens `path`, which prepare_place() accepted. Throws DatabaseError, or sql::Error if SQLite
  /// itself refuses.
  FileConnection(const std::filesystem::path& path, Store::Mode mode);
  /// Opens `path` for writing under its lock, which the caller took. Throws as the other one.
  FileConnection(const std::filesystem::path& path, std::unique_ptr<WriterLock> lock);
  ~FileConnection() override;

  [[nodiscard]] SqliteDatabase& database() const override { return *database_; }
  void require_in_place() override;

  /// Closes the database of a writer and returns its lock, under which the caller may replace the
  /// file.
  [[nodiscard]] std::unique_ptr<WriterLock> close();

 private:
  void open_for_writing(const std::filesystem::path& path);
  void open_for_reading(const std::filesystem::path& path, Store::Mode mode);
  [[nodiscard]] bool is_in_place();
  void come_to_rest() noexcept;

  std::unique_ptr<WriterLock> lock_;  // released after the database is closed
  std::unique_ptr<SqliteDatabase> database_;
  bool had_wal_ = false;  ///< it was seen beside the file
};

class ServerConnection final : public Connection {
 public:
  /// Throws DatabaseError, or sql::Error if the server refuses.
  ServerConnection(const std::filesystem::path& url, Store::Mode mode);

  [[nodiscard]] sql::Database& database() const override { return *database_; }
  [[nodiscard]] bool is_lost() const override { return !database_->is_connected(); }

 private:
  std::unique_ptr<PostgresDatabase> database_;
};

/// Opens a file or a server. Throws as their constructors.
[[nodiscard]] std::unique_ptr<Connection> open_connection(const std::filesystem::path& place,
                                                          Store::Mode mode);

/// Throws DatabaseError if `place` cannot be a database. For a writer of a file, creates its
/// folder.
void prepare_place(const std::filesystem::path& place, Store::Mode mode);

}  // namespace kiln
