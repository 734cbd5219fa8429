// SPDX-License-Identifier: Apache-2.0
#include "db/schema.hpp"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/errors.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace {

// Each version adds to the one before: a migration changes the file, and for a reader, which may
// not change it, views show what the migration would (kShow...).

// Names of outcomes, states and verdicts are stored as text: a file explains itself to `sqlite3`,
// and a code never changes meaning. Samples are little-endian 64-bit floats, in nanoseconds.
constexpr const char* kSchema = R"sql(
CREATE TABLE sessions (
  id            INTEGER PRIMARY KEY,
  kernel        TEXT    NOT NULL,
  spec_hash     TEXT    NOT NULL,
  problem       TEXT    NOT NULL,
  problem_json  TEXT    NOT NULL,
  device        TEXT    NOT NULL,
  device_info   TEXT    NOT NULL,
  driver        TEXT    NOT NULL,
  compiler      TEXT    NOT NULL,
  tool_version  TEXT    NOT NULL,
  strategy      TEXT    NOT NULL,
  seed          TEXT    NOT NULL,
  options       TEXT    NOT NULL,
  budget        TEXT    NOT NULL,
  space_size    INTEGER NOT NULL,
  started_at    TEXT    NOT NULL,
  finished_at   TEXT,
  state         TEXT    NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
  wall_seconds  REAL    NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_key ON sessions (kernel, problem, device);

CREATE TABLE trials (
  id            INTEGER PRIMARY KEY,
  session       INTEGER NOT NULL REFERENCES sessions (id),
  sequence      INTEGER NOT NULL CHECK (sequence >= 1),
  config        TEXT    NOT NULL,
  config_json   TEXT    NOT NULL,
  outcome       TEXT    NOT NULL CHECK (outcome IN (
                  'ok', 'constraint', 'compile_error', 'compile_timeout', 'compile_crash', 'launch_error',
                  'wrong_result', 'run_timeout', 'device_fault', 'out_of_memory')),
  message       TEXT    NOT NULL,
  time_ns       REAL    NOT NULL,
  max_error     REAL    NOT NULL,
  registers     INTEGER NOT NULL,
  spill_bytes   INTEGER NOT NULL,
  shared_bytes  INTEGER NOT NULL,
  source_key    TEXT    NOT NULL,
  render_ns     INTEGER NOT NULL,
  compile_ns    INTEGER NOT NULL,
  verify_ns     INTEGER NOT NULL,
  measure_ns    INTEGER NOT NULL,
  recorded_at   TEXT    NOT NULL,
  UNIQUE (session, sequence),
  UNIQUE (session, config)
) STRICT;

CREATE TABLE samples (
  trial             INTEGER PRIMARY KEY REFERENCES trials (id),
  ns                BLOB    NOT NULL,
  cold_cache        INTEGER NOT NULL,
  batch             INTEGER NOT NULL,
  clock_khz_before  INTEGER NOT NULL,
  clock_khz_after   INTEGER NOT NULL,
  throttled         INTEGER NOT NULL,
  dropped_early     INTEGER NOT NULL
) STRICT;

CREATE TABLE best (
  id               INTEGER PRIMARY KEY,
  session          INTEGER NOT NULL REFERENCES sessions (id),
  config           TEXT    NOT NULL,
  config_json      TEXT    NOT NULL,
  template_hash    TEXT    NOT NULL,
  time_ns          REAL    NOT NULL,
  default_time_ns  REAL    NOT NULL,
  naive_time_ns    REAL,
  verdict          TEXT    NOT NULL CHECK (verdict IN ('better', 'tie', 'unmeasurable', 'none')),
  bytes            REAL    NOT NULL,
  flops            REAL    NOT NULL,
  trials           INTEGER NOT NULL,
  failures         INTEGER NOT NULL,
  evidence         TEXT    NOT NULL,
  published_at     TEXT    NOT NULL
) STRICT;
CREATE INDEX best_by_session ON best (session);
)sql";

// Version 2: what a session that is killed has to remember of the config on the device.
constexpr const char* kAttempts = R"sql(
CREATE TABLE attempts (
  id       INTEGER PRIMARY KEY,
  session  INTEGER NOT NULL REFERENCES sessions (id),
  config   TEXT    NOT NULL,
  begun    INTEGER NOT NULL,
  deaths   INTEGER NOT NULL,
  UNIQUE (session, config)
) STRICT;
)sql";

constexpr const char* kShowAttempts =
    "CREATE TEMP VIEW attempts (id, session, config, begun, deaths) AS SELECT 0, 0, 0, 0, 0 WHERE "
    "false";

// Version 3: what is measured beside time. Rows are there only where something is known.
constexpr const char* kMeasured = R"sql(
CREATE TABLE metrics (
  trial  INTEGER NOT NULL REFERENCES trials (id),
  name   TEXT    NOT NULL,
  value  REAL    NOT NULL,
  PRIMARY KEY (trial, name)
) STRICT;

CREATE TABLE conditions (
  trial             INTEGER PRIMARY KEY REFERENCES trials (id),
  memory_clock_khz  INTEGER NOT NULL,
  temperature_c     INTEGER NOT NULL,
  power_mw          INTEGER NOT NULL,
  throttle          TEXT    NOT NULL
) STRICT;

CREATE TABLE objectives (
  best           INTEGER PRIMARY KEY REFERENCES best (id),
  name           TEXT    NOT NULL,
  value          REAL    NOT NULL,
  default_value  REAL
) STRICT;

CREATE TABLE drift (
  id        INTEGER PRIMARY KEY,
  session   INTEGER NOT NULL REFERENCES sessions (id),
  sequence  INTEGER NOT NULL,
  config    TEXT    NOT NULL,
  ratio     REAL    NOT NULL,
  low       REAL    NOT NULL,
  high      REAL    NOT NULL,
  took_ns   INTEGER NOT NULL
) STRICT;
CREATE INDEX drift_by_session ON drift (session);
)sql";
constexpr const char* kShowMeasured = R"sql(
CREATE TEMP VIEW metrics (trial, name, value) AS SELECT 0, 0, 0 WHERE false;
CREATE TEMP VIEW conditions (trial, memory_clock_khz, temperature_c, power_mw, throttle) AS
  SELECT 0, 0, 0, 0, 0 WHERE false;
CREATE TEMP VIEW objectives (best, name, value, default_value) AS SELECT 0, 0, 0, 0 WHERE false;
CREATE TEMP VIEW drift (id, session, sequence, config, ratio, low, high, took_ns) AS
  SELECT 0, 0, 0, 0, 0, 0, 0, 0 WHERE false;
)sql";

// Version 4: how the launches of a session were timed. Older sessions were all timed eagerly.
constexpr const char* kTiming =
    "ALTER TABLE sessions ADD COLUMN timing TEXT NOT NULL DEFAULT 'eager' CHECK (timing IN "
    "('eager', 'graph'))";
constexpr const char* kShowTiming =
    "CREATE TEMP VIEW sessions AS SELECT *, 'eager' AS timing FROM main.sessions";

// Version 5: a JSON object of the fields that have no column of their own (db/rows.cpp).
constexpr const char* kFields = "ALTER TABLE trials ADD COLUMN fields TEXT NOT NULL DEFAULT '{}'";
constexpr const char* kShowFields =
    "CREATE TEMP VIEW trials AS SELECT *, '{}' AS fields FROM main.trials";

constexpr const char* kShowTables = R"sql(
DROP VIEW IF EXISTS temp.attempts;
DROP VIEW IF EXISTS temp.metrics;
DROP VIEW IF EXISTS temp.conditions;
DROP VIEW IF EXISTS temp.objectives;
DROP VIEW IF EXISTS temp.drift;
DROP VIEW IF EXISTS temp.sessions;
DROP VIEW IF EXISTS temp.trials;
)sql";

// Statements are constants, so the numbers are written out.
static_assert(kApplicationId == 1263094862);
constexpr const char* kMarkAsOurs = "PRAGMA application_id = 1263094862";
static_assert(kSchemaVersion == 5);
constexpr const char* kMarkVersion = "PRAGMA user_version = 5";

// A server has the same tables in the schema "kiln", and its version in a table.
constexpr const char* kServerFrame = R"sql(
CREATE SCHEMA IF NOT EXISTS kiln;
CREATE TABLE schema_version (version integer NOT NULL);
INSERT INTO schema_version (version) VALUES (3);
)sql";
constexpr int kFirstServerVersion = 3;
constexpr const char* kMarkServer4 = "UPDATE schema_version SET version = 4";
constexpr const char* kMarkServer5 = "UPDATE schema_version SET version = 5";
constexpr const char* kShowServerTiming =
    "CREATE TEMP VIEW sessions AS SELECT *, 'eager'::text AS timing FROM kiln.sessions";
constexpr const char* kShowServerFields =
    "CREATE TEMP VIEW trials AS SELECT *, '{}'::text AS fields FROM kiln.trials";

// Two programs that create the tables at the same time: one waits for the other.
constexpr const char* kLockSchema = "SELECT pg_advisory_xact_lock(1263094862)";

int application_of(SQLite::Database& database) {
  return database.execAndGet("PRAGMA application_id").getInt();
}

int version_of(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt();
}

bool is_empty(SQLite::Database& database) {
  return database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
}

void require_version(int version, int first, const std::string& name) {
  const std::string found = name + ": has schema version " + std::to_string(version);
  if (version > kSchemaVersion) {
    throw DatabaseError(found + ", this Kiln knows versions up to " +
                        std::to_string(kSchemaVersion) + "; use the newer Kiln that wrote it");
  }
  if (version < first)
    throw DatabaseError(found + ", expected " + std::to_string(first) + " or later");
}

// Ours holds tables and indexes. A view under the name of a table could compute for ever, a virtual
// table runs other code.
void require_plain(SQLite::Database& database, const std::string& name) {
  SQLite::Statement query(database,
                          "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', "
                          "'index') OR (type = 'table' AND rootpage = 0) LIMIT 1");
  if (query.executeStep()) {
    const std::string type = query.getColumn(0).getString();
    throw DatabaseError(name + ": holds the " + (type == "table" ? "virtual table" : type) + " '" +
                        query.getColumn(1).getString() + "', which no Kiln made");
  }
}

}  // namespace

void require_schema(SQLite::Database& database, const std::string& name) {
  const int application = application_of(database);
  const int version = version_of(database);
  if (application == 0 && is_empty(database)) {
    throw DatabaseError(name + ": is empty: no session was ever stored in it");
  }
  if (application != kApplicationId) {
    throw DatabaseError(name + ": is an SQLite file of another program, not a Kiln database");
  }
  require_version(version, 1, name);
  require_plain(database, name);
}

void prepare_schema(SQLite::Database& database, const std::string& name) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  if (is_empty(database) && application_of(database) == 0) {
    database.exec(kSchema);
    database.exec(kMarkAsOurs);
    database.exec("PRAGMA user_version = 1");
  }
  require_schema(database, name);
  if (version_of(database) < 2) database.exec(kAttempts);
  if (version_of(database) < 3) database.exec(kMeasured);
  if (version_of(database) < 4) database.exec(kTiming);
  if (version_of(database) < 5) database.exec(kFields);
  database.exec(kMarkVersion);
  transaction.commit();
}

void show_as_current(SQLite::Database& database) {
  const int version = version_of(database);
  if (version < 2) database.exec(kShowAttempts);
  if (version < 3) database.exec(kShowMeasured);
  if (version < 4) database.exec(kShowTiming);
  if (version < 5) database.exec(kShowFields);
}

void show_as_stored(SQLite::Database& database) { database.exec(kShowTables); }

void require_server_schema(sql::Database& database, const std::string& name) {
  const int version = database.schema_version();
  if (version == 0) {
    throw DatabaseError(
        name +
        ": holds no tables of Kiln; `kiln fleet init`, `kiln tune` or `kiln sweep` creates them");
  }
  require_version(version, kFirstServerVersion, name);
}

void prepare_server_schema(sql::Database& database, const std::string& name) {
  if (database.schema_version() > 0) require_server_schema(database, name);
  if (database.schema_version() == kSchemaVersion) return;
  sql::Transaction transaction(database, sql::Access::write);
  (void)sql::query_integer(database, kLockSchema);
  if (database.schema_version() == 0) {
    database.exec(kServerFrame);
    database.exec(kSchema);
    database.exec(kAttempts);
    database.exec(kMeasured);
  }
  if (database.schema_version() < 4) {
    database.exec(kTiming);
    database.exec(kMarkServer4);
  }
  if (database.schema_version() < 5) {
    database.exec(kFields);
    database.exec(kMarkServer5);
  }
  transaction.commit();
}

void show_server_as_current(sql::Database& database, const std::string& name) {
  const int version = database.schema_version();
  if (version == kSchemaVersion) return;
  try {
    sql::Transaction transaction(database, sql::Access::write);
    database.exec("SET TRANSACTION READ WRITE");  // a reader's are read-only unless told
    if (version < 4) database.exec(kShowServerTiming);
    if (version < 5) database.exec(kShowServerFields);
    transaction.commit();
  } catch (const sql::Error& error) {
    if (error.failure() == sql::Failure::lost) throw;
    throw DatabaseError(
        name + ": has schema version " + std::to_string(version) +
        ", which this Kiln reads through temporary views, but the server refuses them (" +
        error.what() + "); the next command that writes migrates it");
  }
}

}  // namespace kiln
