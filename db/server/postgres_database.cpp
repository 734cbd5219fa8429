// SPDX-License-Identifier: Apache-2.0
#include "db/server/postgres_database.hpp"

#include <libpq-fe.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/dynamic_library.hpp"
#include "core/errors.hpp"
#include "db/schema.hpp"
#include "db/server/postgres_text.hpp"

namespace kiln {
namespace {

// libpq is opened at run time: the program runs where there is none, and says so when a server is
// named.

/// The functions of libpq that Kiln calls; libpq's manual describes them.
struct PostgresApi {
  decltype(&::PQconnectdbParams) connect = nullptr;
  decltype(&::PQfinish) finish = nullptr;
  decltype(&::PQstatus) status = nullptr;
  decltype(&::PQerrorMessage) error_message = nullptr;
  decltype(&::PQsetNoticeReceiver) set_notice_receiver = nullptr;
  decltype(&::PQparameterStatus) parameter_status = nullptr;
  decltype(&::PQserverVersion) server_version = nullptr;
  decltype(&::PQbackendPID) backend_pid = nullptr;
  decltype(&::PQexec) exec = nullptr;
  decltype(&::PQexecParams) exec_params = nullptr;
  decltype(&::PQresultStatus) result_status = nullptr;
  decltype(&::PQresultErrorField) error_field = nullptr;
  decltype(&::PQclear) clear = nullptr;
  decltype(&::PQntuples) rows = nullptr;
  decltype(&::PQnfields) columns = nullptr;
  decltype(&::PQfname) column_name = nullptr;
  decltype(&::PQftype) column_type = nullptr;
  decltype(&::PQgetisnull) is_null = nullptr;
  decltype(&::PQgetvalue) value = nullptr;
  decltype(&::PQgetlength) length = nullptr;
};

PostgresApi load_postgres() {
  const DynamicLibrary library("PostgreSQL", library_candidates("KILN_LIBPQ", {"libpq.so.5"}));
  PostgresApi api;
  library.bind(api.connect, "PQconnectdbParams");
  library.bind(api.finish, "PQfinish");
  library.bind(api.status, "PQstatus");
  library.bind(api.error_message, "PQerrorMessage");
  library.bind(api.set_notice_receiver, "PQsetNoticeReceiver");
  library.bind(api.parameter_status, "PQparameterStatus");
  library.bind(api.server_version, "PQserverVersion");
  library.bind(api.backend_pid, "PQbackendPID");
  library.bind(api.exec, "PQexec");
  library.bind(api.exec_params, "PQexecParams");
  library.bind(api.result_status, "PQresultStatus");
  library.bind(api.error_field, "PQresultErrorField");
  library.bind(api.clear, "PQclear");
  library.bind(api.rows, "PQntuples");
  library.bind(api.columns, "PQnfields");
  library.bind(api.column_name, "PQfname");
  library.bind(api.column_type, "PQftype");
  library.bind(api.is_null, "PQgetisnull");
  library.bind(api.value, "PQgetvalue");
  library.bind(api.length, "PQgetlength");
  return api;
}

/// Loads libpq at the first call ($KILN_LIBPQ names another file). Throws DatabaseError if it is
/// not there or lacks a function. Any thread may call it.
const PostgresApi& postgres_api() {
  try {
    static const PostgresApi api = load_postgres();
    return api;
  } catch (const DeviceError& error) {
    throw DatabaseError(std::string(error.what()) +
                        "; a database on a server needs libpq (Debian: libpq5); KILN_LIBPQ names "
                        "its file");
  }
}

// Types of columns, as the server numbers them (pg_type.dat of PostgreSQL; they never change).
constexpr Oid kBool = 16;
constexpr Oid kBytes = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;
constexpr Oid kFloat4 = 700;
constexpr Oid kFloat8 = 701;
constexpr Oid kNumeric = 1700;

// The last three: a program whose host went away must not hold its locks for hours.
constexpr const char* kSettings = R"sql(
SET search_path = kiln;
SET bytea_output = hex;
SET extra_float_digits = 3;
SET client_min_messages = error;
SET standard_conforming_strings = on;
SET timezone = 'UTC';
SET tcp_keepalives_idle = 30;
SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 3;
)sql";

double number_from(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string text_of(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

struct ClearServerResult {
  void operator()(PGresult* result) const { postgres_api().clear(result); }
};
using ServerResult = std::unique_ptr<PGresult, ClearServerResult>;

struct PostgresDatabase::Wire {
  explicit Wire(const std::filesystem::path& url) {
    // What stands before dbname is a default that the URL may change.
    const std::array keys = {"connect_timeout",           "tcp_user_timeout",
                             "fallback_application_name", "dbname",
                             "client_encoding",           static_cast<const char*>(nullptr)};
    const std::array values = {"10",        "30000", "kiln",
                               url.c_str(), "UTF8",  static_cast<const char*>(nullptr)};
    const PostgresApi& api = postgres_api();
    connection = api.connect(keys.data(), values.data(), 1);
    if (connection != nullptr && api.status(connection) == CONNECTION_OK) {
      api.set_notice_receiver(
          connection, [](void*, const PGresult*) {}, nullptr);
      return;
    }
    const std::string said =
        connection == nullptr ? "out of memory" : one_line(api.error_message(connection));
    api.finish(connection);
    throw sql::Error(explain_connect(said), sql::Failure::lost);
  }
  ~Wire() { postgres_api().finish(connection); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Throws unless the statement ran.
  ServerResult checked(PGresult* raw) const {
    ServerResult result(raw);
    const PostgresApi& api = postgres_api();
    const ExecStatusType status = api.result_status(raw);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
      return result;
    }
    const char* state = api.error_field(raw, PG_DIAG_SQLSTATE);
    const char* words = api.error_field(raw, PG_DIAG_MESSAGE_PRIMARY);
    const std::string_view code = state == nullptr ? "" : state;
    const std::string said = one_line(words != nullptr ? words : api.error_message(connection));
    throw sql::Error(explain_server(code, said), failure_of(code));
  }

  [[nodiscard]] sql::Failure failure_of(std::string_view code) const {
    if (code == "53100") return sql::Failure::full_disk;
    const bool is_lost = code.empty() || code.starts_with("57P") || code.starts_with("08") ||
                         postgres_api().status(connection) != CONNECTION_OK;
    return is_lost ? sql::Failure::lost : sql::Failure::other;
  }

  PGconn* connection = nullptr;
};

/// Runs at its first step() and then holds all rows.
class PostgresCursor final : public sql::Cursor {
 public:
  PostgresCursor(PostgresDatabase::Wire& wire, const char* text)
      : PostgresCursor(wire, with_dollar_placeholders(text)) {}

  void bind_null(int slot) override { at_slot(slot) = {}; }
  void bind_integer(int slot, std::int64_t value) override {
    at_slot(slot) = {std::to_string(value)};
  }
  void bind_real(int slot, double value) override {
    // As SQLite does, which has no NaN.
    at_slot(slot) = std::isnan(value) ? Parameter{} : Parameter{text_of(value)};
  }
  void bind_text(int slot, std::string_view value) override {
    at_slot(slot) = {storable_text(value)};
  }
  void bind_blob(int slot, std::string_view bytes) override {
    at_slot(slot) = {std::string(bytes), kBytes};
  }

  bool step() override {
    if (result_ == nullptr) {
      run();
    } else {
      ++row_;
    }
    return row_ < postgres_api().rows(result_.get());
  }
  void reset() override { result_.reset(); }

  [[nodiscard]] int columns() const override { return postgres_api().columns(result_.get()); }
  [[nodiscard]] std::string name(int column) const override {
    return postgres_api().column_name(result_.get(), column);
  }
  [[nodiscard]] sql::Type type(int column) const override {
    if (postgres_api().is_null(result_.get(), row_, column) != 0) return sql::Type::null;
    switch (postgres_api().column_type(result_.get(), column)) {
      case kBool:
      case kInt2:
      case kInt4:
      case kInt8:
        return sql::Type::integer;
      case kFloat4:
      case kFloat8:
      case kNumeric:
        return sql::Type::real;
      case kBytes:
        return sql::Type::blob;
      default:
        return sql::Type::text;
    }
  }
  [[nodiscard]] std::int64_t integer(int column) const override {
    const std::string_view text = value(column);
    if (text == "t") return 1;
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  [[nodiscard]] double real(int column) const override { return number_from(value(column)); }
  [[nodiscard]] std::string text(int column) const override { return std::string(value(column)); }
  [[nodiscard]] std::string blob(int column) const override {
    return bytes_from_hex(value(column));
  }

 private:
  struct Parameter {
    std::optional<std::string> value = {};  ///< nullopt: NULL
    Oid type = 0;                           ///< 0: the server infers it
  };

  PostgresCursor(PostgresDatabase::Wire& wire, DollarText text)
      : wire_(wire),
        text_(std::move(text.text)),
        parameters_(static_cast<std::size_t>(text.parameters)) {}

  Parameter& at_slot(int slot) { return parameters_.at(static_cast<std::size_t>(slot) - 1); }

  [[nodiscard]] std::string_view value(int column) const {
    const PostgresApi& api = postgres_api();
    return {api.value(result_.get(), row_, column),
            static_cast<std::size_t>(api.length(result_.get(), row_, column))};
  }

  void run() {
    std::vector<Oid> types;
    std::vector<const char*> values;
    std::vector<int> lengths;
    std::vector<int> formats;
    for (const Parameter& each : parameters_) {
      types.push_back(each.type);
      values.push_back(each.value ? each.value->c_str() : nullptr);
      lengths.push_back(each.value ? static_cast<int>(each.value->size()) : 0);
      formats.push_back(each.type == kBytes ? 1 : 0);
    }
    result_ = wire_.checked(postgres_api().exec_params(
        wire_.connection, text_.c_str(), static_cast<int>(parameters_.size()), types.data(),
        values.data(), lengths.data(), formats.data(), 0));
    row_ = 0;
  }

  PostgresDatabase::Wire& wire_;
  std::string text_;
  std::vector<Parameter> parameters_;
  ServerResult result_;
  int row_ = 0;
};

PostgresDatabase::PostgresDatabase(const std::filesystem::path& url, Rights rights)
    : wire_(std::make_unique<Wire>(url)) {
  const PostgresApi& api = postgres_api();
  constexpr int kOldest = 130000;
  if (api.server_version(wire_->connection) < kOldest) {
    throw sql::Error("is of a PostgreSQL before 13; expected 13 or later");
  }
  const char* encoding = api.parameter_status(wire_->connection, "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8") {
    throw sql::Error(std::string("has the encoding ") + (encoding == nullptr ? "?" : encoding) +
                     "; expected UTF8 (createdb -E UTF8 -T template0)");
  }
  exec(kSettings);
  if (rights == Rights::read) exec("SET default_transaction_read_only = on");
}

PostgresDatabase::~PostgresDatabase() = default;

bool PostgresDatabase::is_connected() const {
  return postgres_api().status(wire_->connection) == CONNECTION_OK;
}

std::unique_ptr<sql::Cursor> PostgresDatabase::prepare(const char* statement) {
  return std::make_unique<PostgresCursor>(*wire_, statement);
}

void PostgresDatabase::exec(const char* statements) {
  (void)wire_->checked(
      postgres_api().exec(wire_->connection, with_server_types(statements).c_str()));
}

void PostgresDatabase::begin(sql::Access access) {
  if (access == sql::Access::write) {
    exec("BEGIN");
  } else {
    exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
}

void PostgresDatabase::commit() { exec("COMMIT"); }

void PostgresDatabase::roll_back() noexcept {
  postgres_api().clear(postgres_api().exec(wire_->connection, "ROLLBACK"));
}

int PostgresDatabase::schema_version() {
  if (version_ >= kSchemaVersion) return version_;  // an older one may be brought up meanwhile
  if (sql::query_integer(*this,
                         "SELECT count(*) FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON "
                         "pg_namespace.oid = relnamespace WHERE nspname = 'kiln' AND relname = "
                         "'schema_version'") == 0) {
    return 0;
  }
  version_ = static_cast<int>(sql::query_integer(*this, "SELECT version FROM kiln.schema_version"));
  return version_;
}

std::int64_t PostgresDatabase::bytes() {
  return sql::query_integer(*this,
                            "SELECT sum(pg_total_relation_size(pg_class.oid))::bigint FROM "
                            "pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid "
                            "= relnamespace WHERE nspname = 'kiln' AND relkind = 'r'");
}

void PostgresDatabase::claim(std::int64_t session, const char* statement) {
  sql::Statement claim(*this, statement);
  claim.bind(1, session);
  if (!claim.step() || claim.integer(0) == 0) {
    throw sql::Error("session " + std::to_string(session) +
                     " is being written by another Kiln; wait for it to end, or begin another one "
                     "with --fresh");
  }
}

void PostgresDatabase::claim_session(std::int64_t session) {
  if (claimed_.contains(session)) return;
  claim(session, "SELECT pg_try_advisory_lock(1263094862, ?::integer)");
  claimed_.insert(session);
}

void PostgresDatabase::claim_in_transaction(std::int64_t session) {
  claim(session, "SELECT pg_try_advisory_xact_lock(1263094862, ?::integer)");
}

std::int64_t PostgresDatabase::connection_number() const {
  return postgres_api().backend_pid(wire_->connection);
}

std::int64_t PostgresDatabase::writer_of(std::int64_t session) {
  sql::Statement holder(*this,
                        "SELECT pid FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND "
                        "granted AND classid::bigint = 1263094862 AND objid::bigint = ?::bigint "
                        "AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = "
                        "current_database())");
  holder.bind(1, session);
  return holder.step() ? holder.integer(0) : 0;
}

void PostgresDatabase::release_session(std::int64_t session) {
  if (claimed_.erase(session) == 0) return;
  sql::Statement release(*this, "SELECT pg_advisory_unlock(1263094862, ?::integer)");
  release.bind(1, session);
  (void)release.step();
}

}  // namespace kiln
