// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/outbox.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "cli/fleet/job_text.hpp"
#include "core/errors.hpp"
#include "core/hash.hpp"
#include "db/fleet_rules.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

/// The number N of "job-N.db"; 0: it is no such name.
std::int64_t job_of(const std::string& name) {
  constexpr std::string_view kBegin = "job-";
  constexpr std::string_view kEnd = ".db";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return 0;
  std::int64_t job = 0;
  const char* end = name.data() + name.size() - kEnd.size();
  return std::from_chars(name.data() + kBegin.size(), end, job).ptr == end ? job : 0;
}

fs::path default_outbox() {
  const fs::path database = default_database_file();
  return database.empty() ? fs::path() : database.parent_path() / "outbox";
}

/// Of a fleet. The server says what it is called: that is no path.
std::string folder_name(const std::string& identity) {
  constexpr std::size_t kLongest = 64;
  const bool is_plain = !identity.empty() && identity.size() <= kLongest &&
                        std::all_of(identity.begin(), identity.end(), [](unsigned char c) {
                          return std::isalnum(c) != 0 || c == '-' || c == '_';
                        });
  return is_plain ? identity : "fleet-" + hash128_hex(identity);
}

/// The newest session of a file: the one that answers its job.
std::optional<SessionRecord> newest_session(const Store& store) {
  std::vector<SessionRecord> sessions = store.sessions();
  if (sessions.empty()) return std::nullopt;
  return std::move(sessions.back());
}

}  // namespace

Outbox::Outbox(const fs::path& root, const std::string& identity) {
  const fs::path base = root.empty() ? default_outbox() : root;
  if (base.empty()) {
    throw DatabaseError(
        "there is no place for the outbox: neither XDG_DATA_HOME nor HOME is set; name a folder "
        "with --outbox");
  }
  folder_ = fs::absolute(base / folder_name(identity));
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw DatabaseError(
        fmt::format("{}: cannot create the outbox: {}; name another folder with --outbox",
                    folder_.string(), error.message()));
  }
}

fs::path Outbox::file_of(std::int64_t job) const { return folder_ / fmt::format("job-{}.db", job); }

std::vector<std::int64_t> Outbox::jobs() const {
  std::vector<std::int64_t> jobs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (const std::int64_t job = job_of(entry.path().filename().string()); job > 0)
      jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

fs::path Outbox::lease_file(std::int64_t job) const {
  return folder_ / fmt::format("job-{}.lease", job);
}

void Outbox::remove(std::int64_t job, std::optional<Store>& store) const {
  std::error_code error;
  try {
    if (!store) store.emplace(file_of(job), Store::Mode::write);
    fs::remove(lease_file(job), error);
    std::move(*store).remove();
    store.reset();
  } catch (const DatabaseBusyError&) {
    // Its writer removes it.
  }
}

void Outbox::note_lease(const FleetLease& lease) const {
  std::ofstream(lease_file(lease.job)) << lease.epoch << '\n';
}

FleetLease Outbox::noted_lease(std::int64_t job) const {
  FleetLease lease;
  lease.job = job;
  std::ifstream(lease_file(job)) >> lease.epoch;
  return lease;
}

std::string Outbox::name() const {
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}:{}", host.data(), folder_.string());
}

bool Outbox::deliver(Fleet& fleet, const FleetLease& lease, const FleetWorker& worker,
                     std::optional<Store>& store) const {
  const fs::path file = file_of(lease.job);
  std::optional<BestRecord> best;
  if (const auto session = newest_session(*store)) best = store->best_of(session->id);
  bool is_first = true;
  if (best && best->verdict != Verdict::none) {
    is_first = fleet.finish(lease.job, worker, file, result_text(*best));
  } else {
    fleet.fail(lease, worker, file, "no config was valid");
  }
  remove(lease.job, store);
  return is_first;
}

std::size_t Outbox::recover(Fleet& fleet, const FleetWorker& worker) const {
  std::size_t delivered = 0;
  for (const std::int64_t job : jobs()) {
    try {
      delivered += recover_job(fleet, job, worker) ? 1 : 0;
    } catch (const DatabaseBusyError&) {
      continue;  // its worker lives
    }
  }
  return delivered;
}

bool Outbox::recover_job(Fleet& fleet, std::int64_t job, const FleetWorker& worker) const {
  std::optional<Store> store;
  store.emplace(file_of(job), Store::Mode::write);  // refused while a worker has it
  const FleetLease lease = noted_lease(job);        // of the worker that died
  const std::optional<SessionRecord> session = newest_session(*store);
  const bool is_finished = session && session->state == SessionState::finished;
  switch (recovery_of(session.has_value(), is_finished, fleet.state_of(job))) {
    case Recovery::deliver:
      return deliver(fleet, lease, worker, store);
    case Recovery::keep:
      fleet.bury(lease);
      return false;
    case Recovery::drop:
      fleet.bury(lease);
      break;
    case Recovery::store:
      fleet.give_back({.job = job, .epoch = 0, .work = {}}, worker, file_of(job), "");
      break;
  }
  remove(job, store);
  return false;
}

}  // namespace kiln::cli
