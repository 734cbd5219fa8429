// The statements of jobs and leases. All times are of the server's clock. Private to db/fleet.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln {

// A lease that ended costs the job a life; without any left it is set aside.
inline constexpr const char* kReturnEnded = R"sql(
WITH ended AS (
  SELECT id FROM jobs WHERE state = 'leased' AND lease_until < clock_timestamp()
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
    AND device = ANY (?6::text[])
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
    "spec_hash) = ANY (?1::text[]) AND device = ANY (?2::text[])";

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
  UPDATE jobs SET state = 'waiting', reason = ?3
  WHERE id = ?1 AND epoch = ?2 AND state = 'leased' RETURNING id, epoch, worker
)
INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, worker, 'returned' FROM given
)sql";

inline constexpr const char* kDone =
    "UPDATE jobs SET state = 'done', worker = ?2, place = ?3, result = ?4::text, "
    "reason = '', trials = coalesce((?4::text::json ->> 'trials')::bigint, trials), "
    "finished_at = clock_timestamp() WHERE id = ?1";

inline constexpr const char* kFailed =
    "UPDATE jobs SET state = 'failed', worker = ?2, place = ?3, reason = ?4, "
    "finished_at = clock_timestamp() WHERE id = ?1";

inline constexpr const char* kLog =
    "INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, ?2, ?3 FROM jobs "
    "WHERE id = ?1";

inline constexpr const char* kBury =
    "UPDATE jobs SET lease_until = clock_timestamp() - interval '1 second' "
    "WHERE id = ?1 AND outbox = ?2 AND state = 'leased'";

inline constexpr const char* kInsertJob =
    "INSERT INTO jobs (plan, kernel, spec_hash, problem, device, settings, weight, lives) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

inline constexpr const char* kCancel = R"sql(
WITH moved AS (
  UPDATE jobs SET state = 'cancelled', finished_at = clock_timestamp()
  WHERE state IN ('waiting', 'leased') AND (?1::bigint = 0 OR plan = ?1::bigint)
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
  WHERE state IN ('failed', 'cancelled', 'aside') AND (?1::bigint = 0 OR plan = ?1::bigint)
  RETURNING id, epoch
), logged AS (
  INSERT INTO lease_log (job, epoch, worker, event)
  SELECT id, epoch, session_user, 'retried' FROM moved
)
SELECT count(*) FROM moved
)sql";

inline constexpr const char* kJobs = R"sql(
SELECT jobs.id, plans.name, kernel, problem, device, state, worker, place, reason, result, trials,
  deaths,
  coalesce(extract(epoch FROM CASE state WHEN 'leased' THEN clock_timestamp() ELSE finished_at END
    - leased_at), 0)::double precision,
  greatest(coalesce(extract(epoch FROM lease_until - clock_timestamp()), 0), 0)::double precision
FROM jobs JOIN plans ON plans.id = jobs.plan
WHERE ?1::bigint = 0 OR plan = ?1::bigint ORDER BY jobs.id
)sql";

}  // namespace kiln
