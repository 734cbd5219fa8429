// SPDX-License-Identifier: Apache-2.0
#include "db/fleet.hpp"

#include <mutex>
#include <utility>

#include "core/errors.hpp"
#include "db/fleet_schema.hpp"
#include "db/fleet_statements.hpp"
#include "db/merge_sources.hpp"
#include "db/server/server_merge.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

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

/// Throws InputError if the server has no plan of this number; 0 stands for all plans.
void require_plan(sql::Database& database, std::int64_t plan) {
  if (plan == 0) return;
  sql::Statement query(database, "SELECT count(*) FROM plans WHERE id = ?");
  query.bind(1, plan);
  if (!query.step() || query.integer(0) == 0) {
    throw InputError("the fleet has no plan " + std::to_string(plan) +
                     "; `kiln fleet submit` prints the number of a plan");
  }
}

}  // namespace

struct Fleet::Impl {
  explicit Impl(const fs::path& place) : url(place) {
    if (!names_server(url)) {
      throw DatabaseError(url.string() +
                          ": is a file; a fleet needs a server: --db postgresql://HOST/DATABASE");
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
    require_plan(database, plan);
    sql::Statement query(database, kCancel);
    query.bind(1, plan);
    return query.step() ? query.integer(0) : 0;
  });
}

std::int64_t Fleet::retry(std::int64_t plan) {
  return impl_->guarded([&](sql::Database& database) {
    require_plan(database, plan);
    sql::Statement query(database, kRetry);
    query.bind(1, plan);
    return query.step() ? query.integer(0) : 0;
  });
}

std::vector<FleetJobState> Fleet::jobs(std::int64_t plan) {
  return impl_->guarded([&](sql::Database& database) {
    require_plan(database, plan);
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

void Fleet::fail(const FleetLease& lease, const FleetWorker& worker, const fs::path& file,
                 const std::string& reason) {
  impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    if (locked_state(database, lease.job) == "done") return;
    if (!file.empty()) store_sessions(database, file);
    sql::Statement failed(database, kFailed);
    failed.bind_all(lease.job, lease.epoch, worker.name, worker.device, reason);
    log_event(database, lease.job, worker.name, failed.step() ? "failed" : "late");
    transaction.commit();
  });
}

void Fleet::bury(const FleetLease& lease) {
  impl_->guarded([&](sql::Database& database) {
    sql::Statement bury(database, kBury);
    bury.bind_all(lease.job, lease.epoch);
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
