// Connection: an SQLite database opened the way Kiln opens one. Private to db/.
//
// A file may come from anybody. Before the first row is read, the schema is checked to hold only
// tables and indexes. Every statement has a limit on its work. At rest a database is one file: the
// writer turns its WAL back into the file when it closes, and readers leave no other file.
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
  /// Opens `path`, which prepare_file() accepted. Throws DatabaseError, or SQLite::Exception if
  /// SQLite itself refuses (explain() has the sentence).
  Connection(const std::filesystem::path& path, Store::Mode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] SQLite::Database& database() const { return *database_; }

  /// Closes the database of a writer and returns its lock, under which the caller may replace the
  /// file.
  [[nodiscard]] std::unique_ptr<WriterLock> close();

 private:
  void open_for_writing(const std::filesystem::path& path);
  void open_for_reading(const std::filesystem::path& path, Store::Mode mode);
  void come_to_rest() noexcept;

  std::unique_ptr<WriterLock> lock_;  // released after the database is closed
  std::unique_ptr<SQLite::Database> database_;
};

/// Throws DatabaseError if `path` cannot be a database. For a writer, creates its folder.
void prepare_file(const std::filesystem::path& path, Store::Mode mode);

}  // namespace kiln
