// SQL as the rest of db/ uses it, whatever keeps the rows: an SQLite file or a PostgreSQL server.
//
// One interface, one file per store (sqlite_database, postgres_database). Statements are written
// once, in the SQL that both understand, with "?" or "?1" for bound values. All failures throw
// sql::Error. A Database and its statements belong to one thread at a time. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::sql {

/// What a caller may do about an error, beyond printing it.
enum class Failure {
  other,
  full_disk,  ///< passes when somebody makes room
  locked,     ///< another program has locked the file; passes when it ends
  lost,       ///< the connection to the server ended; a new one may succeed
};

/// what() is what the error means and what to do, as text that follows "NAME: ".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text, Failure failure = Failure::other)
      : std::runtime_error(text), failure_(failure) {}
  [[nodiscard]] Failure failure() const { return failure_; }

 private:
  Failure failure_;
};

enum class Type { null, integer, real, text, blob };

/// A prepared statement and the row that it is at. Slots count from 1, columns from 0.
class Cursor {
 public:
  Cursor() = default;
  virtual ~Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  virtual void bind_null(int slot) = 0;
  virtual void bind_integer(int slot, std::int64_t value) = 0;
  virtual void bind_real(int slot, double value) = 0;
  virtual void bind_text(int slot, std::string_view value) = 0;
  /// Copies the bytes.
  virtual void bind_blob(int slot, std::string_view bytes) = 0;

  /// Moves to the next row. False: there is none.
  virtual bool step() = 0;
  /// Back to before the first row; bound values stay.
  virtual void reset() = 0;

  [[nodiscard]] virtual int columns() const = 0;
  [[nodiscard]] virtual std::string name(int column) const = 0;
  [[nodiscard]] virtual Type type(int column) const = 0;
  [[nodiscard]] virtual std::int64_t integer(int column) const = 0;
  [[nodiscard]] virtual double real(int column) const = 0;
  [[nodiscard]] virtual std::string text(int column) const = 0;
  [[nodiscard]] virtual std::string blob(int column) const = 0;
};

enum class Access {
  snapshot,  ///< reads only; all rows as of one moment
  write,
};

class Database {
 public:
  Database() = default;
  virtual ~Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] virtual std::unique_ptr<Cursor> prepare(const char* statement) = 0;
  /// Runs statements without values and without rows, separated by ";".
  virtual void exec(const char* statements) = 0;

  virtual void begin(Access access) = 0;
  virtual void commit() = 0;
  virtual void roll_back() noexcept = 0;

  [[nodiscard]] virtual int schema_version() = 0;
  /// Bytes that the rows take on the disk.
  [[nodiscard]] virtual std::int64_t bytes() = 0;
  /// What the store's own check of its pages finds, each a sentence.
  [[nodiscard]] virtual std::vector<std::string> damage() = 0;

  /// Makes this connection the only one that writes the session, until it is released or the
  /// connection ends. Throws if another one does. Nothing to do where one process has the store.
  virtual void claim_session(std::int64_t /*session*/) {}
  virtual void release_session(std::int64_t /*session*/) {}
  /// As claim_session(), until the open transaction ends.
  virtual void claim_in_transaction(std::int64_t /*session*/) {}
  /// The server's numbers of this connection and of the one that claimed the session; 0: none.
  [[nodiscard]] virtual std::int64_t connection_number() const { return 0; }
  [[nodiscard]] virtual std::int64_t writer_of(std::int64_t /*session*/) { return 0; }
};

/// Owner of one cursor. The text must outlive the statement: it is a literal or a constant.
class Statement {
 public:
  Statement(Database& database, const char* text) : cursor_(database.prepare(text)) {}

  void bind(int slot, std::int64_t value) { cursor_->bind_integer(slot, value); }
  void bind(int slot, int value) { cursor_->bind_integer(slot, value); }
  void bind(int slot, double value) { cursor_->bind_real(slot, value); }
  void bind(int slot, const std::string& value) { cursor_->bind_text(slot, value); }
  void bind_null(int slot) { cursor_->bind_null(slot); }
  void bind_blob(int slot, std::string_view bytes) { cursor_->bind_blob(slot, bytes); }
  /// Binds the slots 1, 2, 3, ...
  template <typename... Values>
  void bind_all(const Values&... values) {
    int slot = 0;
    (bind(++slot, values), ...);
  }
  /// Binds a column of another statement's row with its type.
  void bind_column(int slot, const Statement& row, int column);

  bool step() { return cursor_->step(); }
  void reset() { cursor_->reset(); }
  /// Runs a statement that returns no rows, and resets it.
  void run() {
    (void)step();
    reset();
  }
  /// Runs an "INSERT ... RETURNING id", resets it, and returns the id.
  [[nodiscard]] std::int64_t run_for_id();

  [[nodiscard]] int columns() const { return cursor_->columns(); }
  [[nodiscard]] std::string name(int column) const { return cursor_->name(column); }
  [[nodiscard]] Type type(int column) const { return cursor_->type(column); }
  [[nodiscard]] bool is_null(int column) const { return type(column) == Type::null; }
  [[nodiscard]] std::int64_t integer(int column) const { return cursor_->integer(column); }
  [[nodiscard]] double real(int column) const { return cursor_->real(column); }
  [[nodiscard]] std::string text(int column) const { return cursor_->text(column); }
  [[nodiscard]] std::string blob(int column) const { return cursor_->blob(column); }

 private:
  std::unique_ptr<Cursor> cursor_;
};

/// Undone at the end of its scope unless commit() was called.
class Transaction {
 public:
  Transaction(Database& database, Access access) : database_(&database) { database.begin(access); }
  ~Transaction() {
    if (database_ != nullptr) database_->roll_back();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    database_->commit();
    database_ = nullptr;
  }

 private:
  Database* database_;  ///< nullptr: committed
};

/// The integer in the first column of the first row; 0 if there is no row or it is null.
[[nodiscard]] std::int64_t query_integer(Database& database, const char* text);

}  // namespace kiln::sql
