// SPDX-License-Identifier: Apache-2.0
#include "db/fleet.hpp"

#include <mutex>

#include "core/errors.hpp"
#include "db/fleet_rules.hpp"
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

/// A job under its lock; a rule changes `row`.
class LockedJob {
 public:
  LockedJob(sql::Database& database, std::int64_t job) : database_(database), job_(job) {
    sql::Statement query(database, kReadJob);
    query.bind(1, job);
    if (!query.step()) {
      row.state.clear();  // no rule fits
      return;
    }
    row = {.state = query.text(0),
           .epoch = query.integer(1),
           .deaths = query.integer(2),
           .lives = query.integer(3),
           .lease_left = query.real(4),
           .worker = query.text(5),
           .reason = query.text(6)};
  }

  void store() {
    sql::Statement statement(database_, kStoreJob);
    statement.bind_all(job_, row.state, row.epoch, row.deaths, row.worker, row.reason,
                       row.lease_left, place, outbox, result, trials);
    statement.run();
  }
  /// Stores and logs what a rule did; an empty event did nothing.
  void store(std::string_view event) {
    if (event.empty()) return;
    store();
    log_event(database_, job_, row.worker, std::string(event));
  }
  JobRow row;
  // What no rule knows; unless it is set, store() leaves it.
  std::string place;
  std::string outbox;
  std::string result;
  std::int64_t trials = -1;

 private:
  sql::Database& database_;
  std::int64_t job_;
};

void end_leases(sql::Database& database) {
  sql::Transaction transaction(database, sql::Access::write);
  std::vector<std::int64_t> ended;
  {
    sql::Statement query(database, kEndedLeases);
    while (query.step()) ended.push_back(query.integer(0));
  }
  for (const std::int64_t each : ended) {
    LockedJob job(database, each);
    job.store(end_lease(job.row));
  }
  transaction.commit();
}

void store_sessions(sql::Database& database, const fs::path& file) {
  std::vector<std::unique_ptr<MergedSource>> sources;
  sources.push_back(open_source(file));
  MergeReport report;
  merge_sessions(choose_copies(sources, report), database, report);
}

FleetLease lease_from_row(const sql::Statement& row) {
  return {.job = row.integer(0),
          .epoch = 0,
          .work = {.kernel = row.text(1),
                   .spec_hash = row.text(2),
                   .problem = row.text(3),
                   .device = row.text(4),
                   .settings = row.text(5),
                   .weight = row.real(6)}};
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
    end_leases(database);
    sql::Transaction transaction(database, sql::Access::write);
    sql::Statement query(database, kChooseJob);
    query.bind_all(array_text(offer.specs), array_text(offer.devices));
    if (!query.step()) return std::nullopt;
    FleetLease lease = lease_from_row(query);
    LockedJob job(database, lease.job);
    job.place = worker.device;
    job.outbox = worker.outbox;
    job.store(grant_lease(job.row, worker.name, seconds));
    transaction.commit();
    lease.epoch = job.row.epoch;
    return lease;
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
    sql::Transaction transaction(database, sql::Access::write);
    LockedJob job(database, lease.job);
    LeaseState state = LeaseState::lost;
    if (renew_lease(job.row, lease.epoch, seconds)) {
      job.trials = trials;
      job.store();
      state = LeaseState::held;
    } else if (const auto event = take_back(job.row, lease.epoch, worker.name, seconds);
               !event.empty()) {
      job.place = worker.device;
      job.outbox = worker.outbox;
      job.store(event);
      state = LeaseState::taken_back;
    }
    transaction.commit();
    if (state == LeaseState::taken_back) lease.epoch = job.row.epoch;
    return state;
  });
}

void Fleet::give_back(const FleetLease& lease, const FleetWorker& /*worker*/, const fs::path& file,
                      const std::string& reason) {
  impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    LockedJob job(database, lease.job);
    if (!file.empty()) store_sessions(database, file);
    job.store(kiln::give_back(job.row, lease.epoch, reason));
    transaction.commit();
  });
}

bool Fleet::finish(std::int64_t job, const FleetWorker& worker, const fs::path& file,
                   const std::string& result) {
  return impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    LockedJob locked(database, job);
    const std::string event(finish_job(locked.row, worker.name));
    const bool is_first = event == "done";
    if (is_first) {
      store_sessions(database, file);
      locked.place = worker.device;
      locked.result = result;
      locked.store();
    }
    log_event(database, job, worker.name, event);
    transaction.commit();
    return is_first;
  });
}

void Fleet::fail(const FleetLease& lease, const FleetWorker& worker, const fs::path& file,
                 const std::string& reason) {
  impl_->guarded([&](sql::Database& database) {
    sql::Transaction transaction(database, sql::Access::write);
    LockedJob job(database, lease.job);
    if (!file.empty()) store_sessions(database, file);
    const std::string event(fail_job(job.row, lease.epoch, worker.name, reason));
    if (event == "failed") {
      job.place = worker.device;
      job.store();
    }
    log_event(database, lease.job, worker.name, event);
    transaction.commit();
  });
}

void Fleet::bury(const FleetLease& lease) {
  impl_->guarded([&](sql::Database& database) {
    {
      sql::Transaction transaction(database, sql::Access::write);
      LockedJob job(database, lease.job);
      if (bury_lease(job.row, lease.epoch)) job.store();
      transaction.commit();
    }
    end_leases(database);
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
