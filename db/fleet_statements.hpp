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

inline constexpr const char* kEndedLeases =
    "SELECT id FROM jobs WHERE state = 'leased' AND lease_until < clock_timestamp() "
    "AND " KILN_SOUND_JOB " FOR UPDATE SKIP LOCKED";

inline constexpr const char* kChooseJob =
    "SELECT id, kernel, spec_hash, problem, device, settings, weight FROM jobs WHERE state = "
    "'waiting' AND (kernel || ' ' || spec_hash) = ANY (?1::text[]) AND device = ANY (?2::text[]) "
    "AND " KILN_SOUND_JOB " ORDER BY weight DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED";

// What the rules know of a job (JobRow), which stays as it is until the transaction ends.
inline constexpr const char* kReadJob =
    "SELECT state, epoch, deaths, lives, CASE WHEN coalesce(isfinite(lease_until), false) THEN "
    "extract(epoch FROM lease_until - clock_timestamp())::double precision ELSE 0 END, worker, "
    "reason FROM jobs WHERE id = ?1 FOR UPDATE";

// One statement: the guard of jobs judges each change of a row by itself. Empty texts, and a count
// below 0, leave what is there.
inline constexpr const char* kStoreJob =
    "UPDATE jobs SET state = ?2, deaths = ?4, worker = ?5, reason = left(?6, 10000), leased_at = "
    "CASE WHEN epoch = ?3 THEN leased_at ELSE clock_timestamp() END, epoch = ?3, lease_until = "
    "CASE WHEN ?2 = 'leased' THEN clock_timestamp() + make_interval(secs => ?7) ELSE lease_until "
    "END, finished_at = CASE WHEN ?2 IN ('done', 'failed') THEN clock_timestamp() ELSE finished_at "
    "END, place = coalesce(nullif(?8::text, ''), place), outbox = coalesce(nullif(?9::text, ''), "
    "outbox), result = coalesce(nullif(?10::text, ''), result), trials = CASE WHEN ?11::bigint >= "
    "0 THEN ?11::bigint ELSE coalesce((nullif(?10::text, '')::json ->> 'trials')::bigint, trials) "
    "END WHERE id = ?1";

inline constexpr const char* kCountWork =
    "SELECT count(*) FROM jobs WHERE state IN ('waiting', 'leased') AND (kernel || ' ' || "
    "spec_hash) = ANY (?1::text[]) AND device = ANY (?2::text[]) AND " KILN_SOUND_JOB;

inline constexpr const char* kLog =
    "INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, ?2, ?3 FROM jobs WHERE id "
    "= ?1";

inline constexpr const char* kInsertJob =
    "INSERT INTO jobs (plan, kernel, spec_hash, problem, device, settings, weight, lives) VALUES "
    "(?, ?, ?, ?, ?, ?, ?, ?)";

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
