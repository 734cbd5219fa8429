// SPDX-License-Identifier: Apache-2.0
#include "db/fleet_schema.hpp"

#include "core/errors.hpp"
#include "core/shell_word.hpp"
#include "db/fleet_statements.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace {

// Times are the server's: the clocks of hosts differ.
constexpr const char* kFleetTables = R"sql(
CREATE TABLE fleet (
  version   integer NOT NULL,
  identity  text    NOT NULL DEFAULT gen_random_uuid()::text
);

CREATE TABLE plans (
  id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name          text        NOT NULL,
  submitted_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  submitted_by  text        NOT NULL DEFAULT session_user
);

CREATE TABLE jobs (
  id           bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  plan         bigint  NOT NULL REFERENCES plans (id),
  kernel       text    COLLATE "C" NOT NULL,
  spec_hash    text    COLLATE "C" NOT NULL,
  problem      text    COLLATE "C" NOT NULL,
  device       text    COLLATE "C" NOT NULL,
  settings     text    NOT NULL,
  weight       double precision NOT NULL,
  lives        bigint  NOT NULL CHECK (lives >= 1),
  state        text    NOT NULL DEFAULT 'waiting' CHECK (state IN (
                 'waiting', 'leased', 'done', 'failed', 'cancelled', 'aside')),
  epoch        bigint  NOT NULL DEFAULT 0,
  deaths       bigint  NOT NULL DEFAULT 0,
  trials       bigint  NOT NULL DEFAULT 0,
  worker       text    NOT NULL DEFAULT '',
  place        text    NOT NULL DEFAULT '',
  outbox       text    NOT NULL DEFAULT '',
  leased_at    timestamptz,
  lease_until  timestamptz,
  finished_at  timestamptz,
  reason       text    NOT NULL DEFAULT '',
  result       text    NOT NULL DEFAULT ''
);
CREATE INDEX jobs_waiting ON jobs (weight DESC, id) WHERE state = 'waiting';
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'leased';
CREATE INDEX jobs_by_plan ON jobs (plan);

CREATE TABLE lease_log (
  id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  job     bigint      NOT NULL REFERENCES jobs (id),
  epoch   bigint      NOT NULL,
  worker  text        NOT NULL,
  event   text        NOT NULL CHECK (event IN (
            'leased', 'taken back', 'returned', 'ended', 'set aside', 'done', 'late', 'failed',
            'cancelled', 'retried'))
);
CREATE INDEX lease_log_by_job ON lease_log (job);
)sql";

static_assert(kFleetVersion == 1);
constexpr const char* kMarkFleet = "INSERT INTO fleet (version) VALUES (1)";

// Roles are of the whole server; another of its databases may have made them.
constexpr const char* kFleetRoles = R"sql(
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kiln_submit') THEN
    CREATE ROLE kiln_submit NOLOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kiln_work') THEN
    CREATE ROLE kiln_work NOLOGIN;
  END IF;
END
$$;
GRANT USAGE ON SCHEMA kiln TO kiln_submit, kiln_work;
GRANT SELECT ON ALL TABLES IN SCHEMA kiln TO kiln_submit, kiln_work;
REVOKE INSERT ON plans, jobs, lease_log FROM kiln_submit, kiln_work;
GRANT INSERT (name) ON plans TO kiln_submit;
GRANT INSERT (plan, kernel, spec_hash, problem, device, settings, weight, lives) ON jobs
  TO kiln_submit;
GRANT INSERT (job, epoch, worker, event) ON lease_log TO kiln_submit, kiln_work;
GRANT UPDATE (state, deaths, reason, finished_at) ON jobs TO kiln_submit;
GRANT INSERT ON sessions, trials, samples, best, conditions, metrics, objectives, drift
  TO kiln_work;
GRANT UPDATE (state, finished_at, wall_seconds) ON sessions TO kiln_work;
GRANT UPDATE (state, epoch, deaths, trials, worker, place, outbox, leased_at, lease_until,
  finished_at, reason, result) ON jobs TO kiln_work;
)sql";

// An earlier fleet may hold rows that are out of range: they are skipped, not refused.
constexpr const char* kFleetRanges =
    "ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_in_range;ALTER TABLE jobs ADD CONSTRAINT "
    "jobs_in_range CHECK " KILN_SOUND_JOB
    " NOT VALID;\n"
    "ALTER TABLE plans DROP CONSTRAINT IF EXISTS plans_in_range;ALTER TABLE plans ADD CONSTRAINT "
    "plans_in_range CHECK (length(name) <= 500) NOT VALID;\n"
    "ALTER TABLE lease_log DROP CONSTRAINT IF EXISTS lease_log_in_range;ALTER TABLE lease_log ADD "
    "CONSTRAINT lease_log_in_range CHECK (length(worker) <= 500) NOT VALID;";

// Rights on columns cannot tell what a state becomes: a submitter cancels and retries, and a worker
// leases, returns and ends; nobody but the owner changes what is done.
constexpr const char* kFleetGuard = R"sql(
CREATE OR REPLACE FUNCTION guard_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ended CONSTANT text[] := ARRAY['failed', 'cancelled', 'aside'];
  submits CONSTANT boolean := pg_catalog.pg_has_role(current_user, 'kiln_submit', 'MEMBER');
  works CONSTANT boolean := pg_catalog.pg_has_role(current_user, 'kiln_work', 'MEMBER');
BEGIN
  IF pg_catalog.pg_has_role(current_user,
       (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
    RETURN NEW;
  END IF;
  IF submits AND NEW.deaths IN (0, OLD.deaths) AND NEW.reason IN ('', OLD.reason) AND (
       NEW.state = 'cancelled' AND OLD.state IN ('waiting', 'leased')
       OR NEW.state = 'waiting' AND OLD.state = ANY (ended)) THEN
    RETURN NEW;
  END IF;
  IF works AND OLD.state <> 'done' AND NEW.epoch IN (OLD.epoch, OLD.epoch + 1) AND (
       NEW.state = 'done'
       OR NEW.state IN ('waiting', 'leased', 'failed', 'aside')
         AND OLD.state IN ('waiting', 'leased')) THEN
    RETURN NEW;
  END IF;
  IF NEW.state = 'cancelled' OR NEW.state = 'waiting' AND OLD.state = ANY (ended) THEN
    RAISE EXCEPTION 'permission denied to cancel or retry a job' USING ERRCODE = '42501';
  END IF;
  RAISE EXCEPTION 'permission denied to make a job that is % %', OLD.state, NEW.state
    USING ERRCODE = '42501';
END
$$;
DROP TRIGGER IF EXISTS guard_jobs ON jobs;
CREATE TRIGGER guard_jobs BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION guard_jobs();

CREATE OR REPLACE FUNCTION guard_lease_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_catalog.pg_has_role(current_user, CASE WHEN NEW.event IN ('cancelled', 'retried')
       THEN 'kiln_submit' ELSE 'kiln_work' END, 'MEMBER')
     AND NOT pg_catalog.pg_has_role(current_user,
       (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'MEMBER') THEN
    RAISE EXCEPTION 'permission denied to log %', NEW.event USING ERRCODE = '42501';
  END IF;
  RETURN NEW;
END
$$;
DROP TRIGGER IF EXISTS guard_lease_log ON lease_log;
CREATE TRIGGER guard_lease_log BEFORE INSERT ON lease_log FOR EACH ROW
  EXECUTE FUNCTION guard_lease_log();
)sql";

bool has_fleet(sql::Database& database) {
  return sql::query_integer(
             database,
             "SELECT count(*) FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON "
             "pg_namespace.oid = relnamespace WHERE nspname = 'kiln' AND relname = 'fleet'") > 0;
}

}  // namespace

void prepare_fleet(sql::Database& database, const std::string& name) {
  sql::Transaction transaction(database, sql::Access::write);
  (void)sql::query_integer(database, "SELECT pg_advisory_xact_lock(1263094862)");
  if (!has_fleet(database)) {
    database.exec(kFleetTables);
    database.exec(kMarkFleet);
  }
  require_fleet(database, name);
  database.exec(kFleetRanges);
  database.exec(kFleetRoles);
  database.exec(kFleetGuard);
  transaction.commit();
}

void require_fleet(sql::Database& database, const std::string& name) {
  if (!has_fleet(database)) {
    throw DatabaseError(name + ": has no fleet; `kiln fleet init --db " + shell_word(name) +
                        "` makes one");
  }
  const std::int64_t version = sql::query_integer(database, "SELECT version FROM kiln.fleet");
  if (version != kFleetVersion) {
    throw DatabaseError(name + ": has a fleet of version " + std::to_string(version) +
                        ", expected " + std::to_string(kFleetVersion));
  }
}

}  // namespace kiln
