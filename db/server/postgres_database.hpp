// PostgresDatabase: SQL on a PostgreSQL server, in the schema "kiln" of the named database.
//
// Values travel as text, samples as bytes. Text columns compare by bytes, as in SQLite. Private to
// db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "db/sql.hpp"

namespace kiln {

class PostgresDatabase final : public sql::Database {
 public:
  enum class Rights { read, write };
  /// Connects. Throws DatabaseError if there is no libpq, sql::Error if the server refuses.
  PostgresDatabase(const std::filesystem::path& url, Rights rights);
  ~PostgresDatabase() override;

  [[nodiscard]] std::unique_ptr<sql::Cursor> prepare(const char* statement) override;
  void exec(const char* statements) override;
  void begin(sql::Access access) override;
  void commit() override;
  void roll_back() noexcept override;
  /// 0: the server holds no Kiln tables.
  [[nodiscard]] int schema_version() override;
  [[nodiscard]] std::int64_t bytes() override;
  [[nodiscard]] std::vector<std::string> damage() override { return {}; }
  void claim_session(std::int64_t session) override;
  void release_session(std::int64_t session) override;
  void claim_in_transaction(std::int64_t session) override;
  [[nodiscard]] std::int64_t connection_number() const override;
  [[nodiscard]] std::int64_t writer_of(std::int64_t session) override;

  /// False once the server, or the way to it, went away.
  [[nodiscard]] bool is_connected() const;

 private:
  friend class PostgresCursor;
  struct Wire;  ///< the connection of libpq
  void claim(std::int64_t session, const char* statement);

  std::unique_ptr<Wire> wire_;
  std::set<std::int64_t> claimed_;
  int version_ = 0;
};

}  // namespace kiln
