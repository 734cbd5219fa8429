// The statements of jobs and leases. All times are of the server's clock. Private to db/fleet.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {

// Whether the values of a row are of a size that Kiln writes. Rows of other programs that are not
// are skipped, and `kiln fleet status` names them: one row does not stop a fleet.
#define KILN_SOUND_JOB                                                                           \
  "(length(kernel) <= 200 AND length(spec_hash) <= 200 AND length(problem) <= 4000 AND "         \
  "length(device) <= 500 AND length(settings) <= 65536 AND weight >= 0 AND weight < 'Infinity' " \
  "AND lives BETWEEN 1 AND 1000 AND deaths BETWEEN 0 AND 1000 AND epoch BETWEEN 0 AND "          \
  "1000000000000 AND trials BETWEEN 0 AND 1000000000000 AND length(worker) <= 500 AND "          \
  "length(place) <= 500 AND length(outbox) <= 5000 AND length(reason) <= 10000 AND "             \
  "length(result) <= 100000 AND coalesce(isfinite(leased_at), true) AND "                        \
  "coalesce(isfinite(lease_until), true) AND coalesce(isfinite(finished_at), true))"

// A lease that ended costs the job a life; without any left it is set aside.
inline constexpr const char* kReturnEnded = R"sql(
WITH ended AS (
  SELECT id FROM jobs WHERE state = 'leased' AND lease_until < clock_timestamp() AND )sql" KILN_SOUND_JOB
                                            R"sql(
  FOR UPDATE SKIP LOCKED
), moved AS (
  UPDATE jobs SET
    deaths = deaths + 1,
    state = CASE WHEN deaths + 1 >= lives THEN 'aside' ELSE 'waiting' END,
    reason = CASE WHEN deaths + 1 >= lives
      THEN 'its lease ended ' || lives || ' times without its worker, the last time with ' || worker
      ELSE reason END
  WHERE id IN (SELECT id FROM ended) RETURNING id, epoch, worker, state
)
INSERT INTO lease_log (job, epoch, worker, event)
SELECT id, epoch, worker, CASE state WHEN 'aside' THEN 'set aside' ELSE 'ended' END FROM moved
)sql";

inline constexpr const char* kLease = R"sql(
WITH chosen AS (
  SELECT id FROM jobs
  WHERE state = 'waiting' AND (kernel || ' ' || spec_hash) = ANY (?5::text[])
    AND device = ANY (?6::text[]) AND )sql" KILN_SOUND_JOB R"sql(
  ORDER BY weight DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE jobs SET state = 'leased', epoch = epoch + 1, worker = ?1, place = ?2, outbox = ?3,
    leased_at = clock_timestamp(), lease_until = clock_timestamp() + make_interval(secs => ?4)
  WHERE id IN (SELECT id FROM chosen)
  RETURNING id, epoch, worker, kernel, spec_hash, problem, device, settings, weight
), logged AS (
  INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, worker, 'leased' FROM taken
)
SELECT id, epoch, kernel, spec_hash, problem, device, settings, weight FROM taken
)sql";

inline constexpr const char* kCountWork =
    "SELECT count(*) FROM jobs WHERE state IN ('waiting', 'leased') AND (kernel || ' ' || "
    "spec_hash) = ANY (?1::text[]) AND device = ANY (?2::text[]) AND " KILN_SOUND_JOB;

inline constexpr const char* kRenew =
    "UPDATE jobs SET lease_until = clock_timestamp() + make_interval(secs => ?3), trials = ?4 "
    "WHERE id = ?1 AND epoch = ?2 AND state = 'leased' RETURNING id";

// It ended because the server or the network was away, and nobody took the job since.
inline constexpr const char* kTakeBack = R"sql(
WITH taken AS (
  UPDATE jobs SET state = 'leased', epoch = epoch + 1, deaths = greatest(deaths - 1, 0),
    worker = ?3, place = ?4, outbox = ?5, leased_at = clock_timestamp(),
    lease_until = clock_timestamp() + make_interval(secs => ?6)
  WHERE id = ?1 AND epoch = ?2 AND state = 'waiting' RETURNING id, epoch, worker
), logged AS (
  INSERT INTO lease_log (job, epoch, worker, event)
  SELECT id, epoch, worker, 'taken back' FROM taken
)
SELECT epoch FROM taken
)sql";

inline constexpr const char* kGiveBack = R"sql(
WITH given AS (
  UPDATE jobs SET state = 'waiting', reason = left(?3, 10000)
  WHERE id = ?1 AND epoch = ?2 AND state = 'leased' RETURNING id, epoch, worker
)
INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, worker, 'returned' FROM given
)sql";

inline constexpr const char* kDone =
    "UPDATE jobs SET state = 'done', worker = ?2, place = ?3, result = ?4::text, "
    "reason = '', trials = coalesce((?4::text::json ->> 'trials')::bigint, trials), "
    "finished_at = clock_timestamp() WHERE id = ?1";

inline constexpr const char* kFailed =
    "UPDATE jobs SET state = 'failed', worker = ?3, place = ?4, reason = left(?5, 10000), "
    "finished_at = clock_timestamp() WHERE id = ?1 AND epoch = ?2 AND state IN ('leased', "
    "'waiting') RETURNING id";

inline constexpr const char* kLog =
    "INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, ?2, ?3 FROM jobs "
    "WHERE id = ?1";

inline constexpr const char* kBury =
    "UPDATE jobs SET lease_until = clock_timestamp() - interval '1 second' "
    "WHERE id = ?1 AND epoch = ?2 AND state = 'leased'";

inline constexpr const char* kInsertJob =
    "INSERT INTO jobs (plan, kernel, spec_hash, problem, device, settings, weight, lives) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

inline constexpr const char* kCancel = R"sql(
WITH moved AS (
  UPDATE jobs SET state = 'cancelled', finished_at = clock_timestamp()
  WHERE state IN ('waiting', 'leased') AND (?1::bigint = 0 OR plan = ?1::bigint) AND )sql" KILN_SOUND_JOB
                                       R"sql(
  RETURNING id, epoch
), logged AS (
  INSERT INTO lease_log (job, epoch, worker, event)
  SELECT id, epoch, session_user, 'cancelled' FROM moved
)
SELECT count(*) FROM moved
)sql";

inline constexpr const char* kRetry = R"sql(
WITH moved AS (
  UPDATE jobs SET state = 'waiting', deaths = 0, reason = '', finished_at = NULL
  WHERE state IN ('failed', 'cancelled', 'aside') AND (?1::bigint = 0 OR plan = ?1::bigint) AND )sql" KILN_SOUND_JOB
                                      R"sql(
  RETURNING id, epoch
), logged AS (
  INSERT INTO lease_log (job, epoch, worker, event)
  SELECT id, epoch, session_user, 'retried' FROM moved
)
SELECT count(*) FROM moved
)sql";

// Whatever a row holds: cut where it is long, and named where it is skipped.
inline constexpr const char* kJobs = R"sql(
SELECT jobs.id, left(plans.name, 500), left(kernel, 500), left(problem, 4000), left(device, 500),
  state, left(worker, 500), left(place, 500),
  CASE WHEN )sql" KILN_SOUND_JOB R"sql( THEN reason
    ELSE 'skipped: a value of its row is out of the range that Kiln writes' END,
  left(result, 100000), trials, deaths,
  CASE WHEN coalesce(isfinite(leased_at) AND coalesce(isfinite(finished_at), true), false) THEN
    coalesce(extract(epoch FROM CASE state WHEN 'leased' THEN clock_timestamp() ELSE finished_at
      END - leased_at), 0)::double precision ELSE 0 END,
  CASE WHEN coalesce(isfinite(lease_until), false) THEN greatest(extract(epoch FROM lease_until -
    clock_timestamp()), 0)::double precision ELSE 0 END
FROM jobs JOIN plans ON plans.id = jobs.plan
WHERE ?1::bigint = 0 OR plan = ?1::bigint ORDER BY jobs.id
)sql";

}  // namespace kiln
