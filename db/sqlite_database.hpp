// SqliteDatabase: SQL on an SQLite file. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "db/sql.hpp"

namespace SQLite {
class Database;
class Exception;
}  // namespace SQLite

namespace kiln {

/// The same error with what it means in the user's words.
[[nodiscard]] sql::Error translated(const SQLite::Exception& error);

class SqliteDatabase final : public sql::Database {
 public:
  explicit SqliteDatabase(std::unique_ptr<SQLite::Database> database);
  ~SqliteDatabase() override;

  [[nodiscard]] std::unique_ptr<sql::Cursor> prepare(const char* statement) override;
  void exec(const char* statements) override;
  void begin(sql::Access access) override;
  void commit() override;
  void roll_back() noexcept override;
  [[nodiscard]] int schema_version() override;
  [[nodiscard]] std::int64_t bytes() override;
  [[nodiscard]] std::vector<std::string> damage() override;

  /// For what only SQLite has: pragmas, schema, copies of the file.
  [[nodiscard]] SQLite::Database& file() const { return *database_; }

 private:
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace kiln
