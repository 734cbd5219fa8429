// Connection: an SQLite database opened the way Kiln opens one. Private to db/.
//
// A file may come from anybody: before its first row is read, its schema is known to hold nothing
// but tables and indexes, and every statement has a bound on its work. At rest a database is one
// file: the writer turns its WAL back into the file when it closes, and readers leave nothing
// beside it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "db/store.hpp"
#include "db/writer_lock.hpp"

namespace SQLite {
class Database;
}

namespace kiln {

class Connection {
 public:
  /// Opens `path`, which prepare_file() accepted. Throws DatabaseError, or SQLite::Exception for
  /// what SQLite itself refuses (explain() has the sentence).
  Connection(const std::filesystem::path& path, Store::Mode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] SQLite::Database& database() const { return *database_; }

  /// Closes the database of a writer and hands its lock on: what replaces the file is written under
  /// it.
  [[nodiscard]] std::unique_ptr<WriterLock> close();

 private:
  void open_for_writing(const std::filesystem::path& path);
  void open_for_reading(const std::filesystem::path& path, Store::Mode mode);
  void come_to_rest() noexcept;

  std::unique_ptr<WriterLock> lock_;  // released after the database is closed
  std::unique_ptr<SQLite::Database> database_;
};

/// Throws DatabaseError where `path` cannot be a database; makes its folder for a writer.
void prepare_file(const std::filesystem::path& path, Store::Mode mode);

}  // namespace kiln
