// SPDX-License-Identifier: Apache-2.0
#include "db/fleet.hpp"

#include <mutex>
#include <utility>

#include "core/errors.hpp"
#include "db/fleet_schema.hpp"
#include "db/merge_sources.hpp"
#include "db/server_merge.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

// A lease that ended costs the job a life; without any left it is set aside.
constexpr const char* kReturnEnded = R"sql(
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

constexpr const char* kLease = R"sql(
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

constexpr const char* kCountWork =
    "SELECT count(*) FROM jobs WHERE state IN ('waiting', 'leased') AND (kernel || ' ' || "
    "spec_hash) = ANY (?1::text[]) AND device = ANY (?2::text[])";

constexpr const char* kRenew =
    "UPDATE jobs SET lease_until = clock_timestamp() + make_interval(secs => ?3), trials = ?4 "
    "WHERE id = ?1 AND epoch = ?2 AND state = 'leased' RETURNING id";

// It ended because the server or the network was away, and nobody took the job since.
constexpr const char* kTakeBack = R"sql(
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

constexpr const char* kGiveBack = R"sql(
WITH given AS (
  UPDATE jobs SET state = 'waiting', reason = ?3
  WHERE id = ?1 AND epoch = ?2 AND state = 'leased' RETURNING id, epoch, worker
)
INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, worker, 'returned' FROM given
)sql";

constexpr const char* kDone =
    "UPDATE jobs SET state = 'done', worker = ?2, place = ?3, result = ?4::text, "
    "reason = '', trials = coalesce((?4::text::json ->> 'trials')::bigint, trials), "
    "finished_at = clock_timestamp() WHERE id = ?1";

constexpr const char* kFailed =
    "UPDATE jobs SET state = 'failed', worker = ?2, place = ?3, reason = ?4, "
    "finished_at = clock_timestamp() WHERE id = ?1";

constexpr const char* kLog =
    "INSERT INTO lease_log (job, epoch, worker, event) SELECT id, epoch, ?2, ?3 FROM jobs "
    "WHERE id = ?1";

constexpr const char* kBury =
    "UPDATE jobs SET lease_until = clock_timestamp() - interval '1 second' "
    "WHERE id = ?1 AND outbox = ?2 AND state = 'leased'";

constexpr const char* kInsertJob =
    "INSERT INTO jobs (plan, kernel, spec_hash, problem, device, settings, weight, lives) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

constexpr const char* kCancel = R"sql(
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

constexpr const char* kRetry = R"sql(
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

constexpr const char* kJobs = R"sql(
SELECT jobs.id, plans.name, kernel, problem, device, state, worker, place, reason, result, trials,
  deaths,
  coalesce(extract(epoch FROM CASE state WHEN 'leased' THEN clock_timestamp() ELSE finished_at END
    - leased_at), 0)::double precision,
  greatest(coalesce(extract(epoch FROM lease_until - clock_timestamp()), 0), 0)::double precision
FROM jobs JOIN plans ON plans.id = jobs.plan
WHERE ?1::bigint = 0 OR plan = ?1::bigint ORDER BY jobs.id
)sql";

/// '{"a","b"}': an array of texts as the server reads it.
std::string array_text(const std::vector<std::string>& texts) {
  std::string text = "{";
  for (const std::string& each : texts) {
    if (text.size() > 1) text += ',';
    text += '"';
    for (const char c : each) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

void log_event(sql::Database& database, std::int64_t job, const std::string& worker,
               const std::string& event) {
  sql::Statement log(database, kLog);
  log.bind_all(job, worker, event);
  log.run();
}

/// The state of a job, which stays as it is until the transaction ends.
std::string locked_state(sql::Database& database, std::int64_t job) {
  sql::Statement query(database, "SELECT state FROM jobs WHERE id = ? FOR UPDATE");
  query.bind(1, job);
  return query.step() ? query.text(0) : "";
}

void store_sessions(sql::Database& database, const fs::path& file) {
  std::vector<std::unique_ptr<MergedSource>> sources;
  sources.push_back(open_source(file));
  MergeReport report;
  merge_sessions(choose_copies(sources, report), database, report);
}

FleetLease lease_from_row(const sql::Statement& row) {
  return {.job = row.integer(0),
          .epoch = row.integer(1),
          .work = {.kernel = row.text(2),
                   .spec_hash = row.text(3),
                   .problem = row.text(4),
                   .device = row.text(5),
                   .settings = row.text(6),
                   .weight = row.real(7)}};
}

FleetJobState state_from_row(const sql::Statement& row) {
  return {.job = row.integer(0),
          .plan = row.text(1),
          .kernel = row.text(2),
          .problem = row.text(3),
          .device = row.text(4),
          .state = row.text(5),
          .worker = row.text(6),
          .place = row.text(7),
          .reason = row.text(8),
          .result = row.text(9),
          .trials = row.integer(10),
          .deaths = row.integer(11),
          .seconds = row.real(12),
          .lease_left = row.real(13)};
}

}  // namespace

struct Fleet::Impl {
  explicit Impl(const fs::path& place) : url(place) {
    if (!names_server(url)) {
      throw DatabaseError(url.string() +
                          ": is a file; a fleet needs a server, as postgresql://HOST/DATABASE");
    }
    prepare_place(url, Store::Mode::write);
  }

  [[nodiscard]] std::unique_ptr<Connection> connect() const {
    auto opened = std::make_unique<ServerConnection>(url, Store::Mode::write);
    require_fleet(opened->database(), shown_place(url));
    return opened;
  }

  template <typename Work>
  auto guarded(Work&& work) {
    const std::scoped_lock lock(mutex);
    return naming(url, [&] {
      if (connection == nullptr || connection->is_lost()) connection = connect();
      return work(connection->database());
    });
  }

  fs::path url;
  std::unique_ptr<Connection> connection;
  std::mutex mutex;
};

void Fleet::init(const fs::path& url) {
  const Impl impl(url);
  naming(url, [&] {
    const ServerConnection server(url, Store::Mode::write);
    prepare_fleet(server.database(), shown_place(url));
  });
}

Fleet::Fleet(const fs::path& url) : impl_(std::make_unique<Impl>(url)) {
  impl_->guarded([](sql::Database&) {});
}
Fleet::~Fleet() = default;

std::string Fleet::identity() {
  return impl_->guarded([](sql::Database& database) {
    sql::Statement query(database, "SELECT identity FROM kiln.fleet");
    return query.step() ? query.text(0) : std::string();
  });
}

std::int64_t Fleet::submit(const std::string& plan, const std::vector<FleetJob>& jobs, int lives) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    sql::Statement insert(database, "INSERT INTO plans (name) VALUES (?) RETURNING id");
    insert.bind(1, plan);
    const std::int64_t id = insert.run_for_id();
    sql::Statement add(database, kInsertJob);
    for (const FleetJob& job : jobs) {
      add.bind_all(id, job.kernel, job.spec_hash, job.problem, job.device, job.settings, job.weight,
                   lives);
      add.run();
    }
    transaction.commit();
    return id;
  });
}

std::int64_t Fleet::cancel(std::int64_t plan) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Statement query(database, kCancel);
    query.bind(1, plan);
    return query.step() ? query.integer(0) : 0;
  });
}

std::int64_t Fleet::retry(std::int64_t plan) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Statement query(database, kRetry);
    query.bind(1, plan);
    return query.step() ? query.integer(0) : 0;
  });
}

std::vector<FleetJobState> Fleet::jobs(std::int64_t plan) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Statement query(database, kJobs);
    query.bind(1, plan);
    std::vector<FleetJobState> states;
    while (query.step()) states.push_back(state_from_row(query));
    return states;
  });
}

std::optional<FleetLease> Fleet::lease(const FleetWorker& worker, const FleetOffer& offer,
                                       double seconds) {
  return impl_->guarded([&](sql::Database& database) -> std::optional<FleetLease> {
    database.exec(kReturnEnded);
    sql::Statement query(database, kLease);
    query.bind_all(worker.name, worker.device, worker.outbox, seconds, array_text(offer.specs),
                   array_text(offer.devices));
    if (!query.step()) return std::nullopt;
    return lease_from_row(query);
  });
}

bool Fleet::has_work(const FleetOffer& offer) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Statement query(database, kCountWork);
    query.bind_all(array_text(offer.specs), array_text(offer.devices));
    return query.step() && query.integer(0) > 0;
  });
}

LeaseState Fleet::renew(FleetLease& lease, const FleetWorker& worker, std::int64_t trials,
                        double seconds) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Statement renew(database, kRenew);
    renew.bind_all(lease.job, lease.epoch, seconds, trials);
    if (renew.step()) return LeaseState::held;
    sql::Statement take(database, kTakeBack);
    take.bind_all(lease.job, lease.epoch, worker.name, worker.device, worker.outbox, seconds);
    if (!take.step()) return LeaseState::lost;
    lease.epoch = take.integer(0);
    return LeaseState::taken_back;
  });
}

void Fleet::give_back(const FleetLease& lease, const FleetWorker& /*worker*/, const fs::path& file,
                      const std::string& reason) {
  impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    (void)locked_state(database, lease.job);
    if (!file.empty()) store_sessions(database, file);
    sql::Statement give(database, kGiveBack);
    give.bind_all(lease.job, lease.epoch, reason);
    give.run();
    transaction.commit();
  });
}

bool Fleet::finish(std::int64_t job, const FleetWorker& worker, const fs::path& file,
                   const std::string& result) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    const bool is_first = locked_state(database, job) != "done";
    if (is_first) {
      store_sessions(database, file);
      sql::Statement done(database, kDone);
      done.bind_all(job, worker.name, worker.device, result);
      done.run();
    }
    log_event(database, job, worker.name, is_first ? "done" : "late");
    transaction.commit();
    return is_first;
  });
}

void Fleet::fail(std::int64_t job, const FleetWorker& worker, const fs::path& file,
                 const std::string& reason) {
  impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    if (locked_state(database, job) == "done") return;
    if (!file.empty()) store_sessions(database, file);
    sql::Statement failed(database, kFailed);
    failed.bind_all(job, worker.name, worker.device, reason);
    failed.run();
    log_event(database, job, worker.name, "failed");
    transaction.commit();
  });
}

void Fleet::bury(std::int64_t job, const FleetWorker& worker) {
  impl_->guarded([&](sql::Database& database) {
    sql::Statement bury(database, kBury);
    bury.bind_all(job, worker.outbox);
    bury.run();
    database.exec(kReturnEnded);
  });
}

std::string Fleet::state_of(std::int64_t job) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Statement query(database, "SELECT state FROM jobs WHERE id = ?");
    query.bind(1, job);
    return query.step() ? query.text(0) : std::string();
  });
}

}  // namespace kiln
