// SPDX-License-Identifier: Apache-2.0
#include "db/sqlite_database.hpp"

#include <system_error>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/explain.hpp"

namespace kiln {
namespace {

template <typename Work>
auto translating(Work&& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    throw translated(error);
  }
}

class SqliteCursor final : public sql::Cursor {
 public:
  SqliteCursor(SQLite::Database& database, const char* text)
      : statement_(translating([&] { return SQLite::Statement(database, text); })) {}

  void bind_null(int slot) override {
    translating([&] { statement_.bind(slot); });
  }
  void bind_integer(int slot, std::int64_t value) override {
    translating([&] { statement_.bind(slot, value); });
  }
  void bind_real(int slot, double value) override {
    translating([&] { statement_.bind(slot, value); });
  }
  void bind_text(int slot, std::string_view value) override {
    translating([&] { statement_.bind(slot, std::string(value)); });
  }
  void bind_blob(int slot, std::string_view bytes) override {
    translating([&] { statement_.bind(slot, bytes.data(), static_cast<int>(bytes.size())); });
  }

  bool step() override {
    return translating([&] { return statement_.executeStep(); });
  }
  void reset() override {
    translating([&] { statement_.reset(); });
  }

  [[nodiscard]] int columns() const override { return statement_.getColumnCount(); }
  [[nodiscard]] std::string name(int column) const override {
    return translating([&] { return std::string(statement_.getColumnName(column)); });
  }
  [[nodiscard]] sql::Type type(int column) const override {
    const SQLite::Column found = at(column);
    if (found.isInteger()) return sql::Type::integer;
    if (found.isFloat()) return sql::Type::real;
    if (found.isNull()) return sql::Type::null;
    return found.isBlob() ? sql::Type::blob : sql::Type::text;
  }
  [[nodiscard]] std::int64_t integer(int column) const override { return at(column).getInt64(); }
  [[nodiscard]] double real(int column) const override { return at(column).getDouble(); }
  [[nodiscard]] std::string text(int column) const override { return at(column).getString(); }
  [[nodiscard]] std::string blob(int column) const override {
    const SQLite::Column found = at(column);
    const auto* bytes = static_cast<const char*>(found.getBlob());
    return {bytes, static_cast<std::size_t>(found.getBytes())};
  }

 private:
  [[nodiscard]] SQLite::Column at(int column) const {
    return translating([&] { return statement_.getColumn(column); });
  }

  mutable SQLite::Statement statement_;  // SQLite converts a column where it lies
};

}  // namespace

sql::Error translated(const SQLite::Exception& error) {
  sql::Failure failure = sql::Failure::other;
  if (is_full_disk(error)) failure = sql::Failure::full_disk;
  if (is_locked(error)) failure = sql::Failure::locked;
  return sql::Error(explain(error), failure);
}

SqliteDatabase::SqliteDatabase(std::unique_ptr<SQLite::Database> database)
    : database_(std::move(database)) {}
SqliteDatabase::~SqliteDatabase() = default;

std::unique_ptr<sql::Cursor> SqliteDatabase::prepare(const char* statement) {
  return std::make_unique<SqliteCursor>(*database_, statement);
}

void SqliteDatabase::exec(const char* statements) {
  translating([&] { database_->exec(statements); });
}

void SqliteDatabase::begin(sql::Access access) {
  if (access == sql::Access::write) {
    exec("BEGIN IMMEDIATE");
  } else {
    exec("BEGIN");
  }
}

void SqliteDatabase::commit() { exec("COMMIT"); }

void SqliteDatabase::roll_back() noexcept { database_->tryExec("ROLLBACK"); }

int SqliteDatabase::schema_version() {
  return static_cast<int>(sql::query_integer(*this, "PRAGMA user_version"));
}

std::int64_t SqliteDatabase::bytes() {
  std::error_code error;
  const auto size = std::filesystem::file_size(database_->getFilename(), error);
  return error ? -1 : static_cast<std::int64_t>(size);
}

std::vector<std::string> SqliteDatabase::damage() {
  std::vector<std::string> findings;
  sql::Statement integrity(*this, "PRAGMA integrity_check");
  while (integrity.step()) {
    if (const std::string line = integrity.text(0); line != "ok") {
      findings.push_back("SQLite: " + line);
    }
  }
  sql::Statement foreign(*this, "PRAGMA foreign_key_check");
  while (foreign.step()) {
    findings.push_back("row " + foreign.text(1) + " of table " + foreign.text(0) +
                       " refers to a missing row of " + foreign.text(2));
  }
  return findings;
}

}  // namespace kiln
