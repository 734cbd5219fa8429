// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/outbox.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "cli/fleet/job_text.hpp"
#include "core/errors.hpp"
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
  folder_ = fs::absolute(base / identity);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw DatabaseError(
        fmt::format("{}: cannot create the outbox: {}; name another folder with "
                    "--outbox",
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

void Outbox::remove(std::int64_t job) const {
  std::error_code error;
  for (const char* suffix : {"", "-wal", "-shm", ".writer"})
    fs::remove(file_of(job).string() + suffix, error);
}

std::string Outbox::name() const {
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}:{}", host.data(), folder_.string());
}

bool Outbox::deliver(Fleet& fleet, std::int64_t job, const FleetWorker& worker) const {
  const fs::path file = file_of(job);
  std::optional<BestRecord> best;
  {
    const Store store(file, Store::Mode::read);
    if (const auto session = newest_session(store)) best = store.best_of(session->id);
  }
  bool is_first = true;
  if (best && best->verdict != Verdict::none) {
    is_first = fleet.finish(job, worker, file, result_text(*best));
  } else {
    fleet.fail(job, worker, file, "no config was valid");
  }
  remove(job);
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
  const Store store(file_of(job), Store::Mode::write);  // refused while a worker has it
  const std::optional<SessionRecord> session = newest_session(store);
  if (!session) {
    fleet.bury(job, worker);
    remove(job);
    return false;
  }
  if (session->state == SessionState::finished) return deliver(fleet, job, worker);
  const std::string state = fleet.state_of(job);
  if (state == "waiting" || state == "leased") {
    fleet.bury(job, worker);
    return false;
  }
  fleet.give_back({.job = job, .epoch = 0, .work = {}}, worker, file_of(job), "");  // its trials
  remove(job);
  return false;
}

}  // namespace kiln::cli
