// SPDX-License-Identifier: Apache-2.0
#include "db/store.hpp"

#include <cstdlib>
#include <mutex>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/transient_error.hpp"
#include "db/attempts.hpp"
#include "db/connection.hpp"
#include "db/explain.hpp"
#include "db/measured_rows.hpp"
#include "db/publish.hpp"
#include "db/rows.hpp"
#include "db/session_answers.hpp"

namespace kiln {
namespace fs = std::filesystem;

struct Store::Impl {
  Impl(const fs::path& path_in, Mode mode)
      : path(path_in), connection(path_in, mode), database(connection.database()) {}

  // Runs `work`, turning SQLite's errors into ours with the file's name in front.
  template <typename Work>
  auto guarded(Work&& work) {
    const std::scoped_lock lock(mutex);
    return guard(path, std::forward<Work>(work));
  }

  template <typename Work>
  static auto guard(const fs::path& path, Work&& work) {
    try {
      return work();
    } catch (const SQLite::Exception& error) {
      if (is_full_disk(error)) {
        throw TransientError(ExitCode::bad_database, path.string() + ": " + kFullDisk,
                             kAfterFullDisk);
      }
      throw DatabaseError(path.string() + ": " + explain(error));
    } catch (const nlohmann::json::exception& error) {
      throw DatabaseError(path.string() + ": a row holds malformed JSON: " + error.what());
    } catch (const DatabaseError&) {
      throw;
    } catch (const std::exception& error) {  // an unknown word, a row without its session
      throw DatabaseError(path.string() + ": a row cannot be read: " + error.what());
    }
  }

  fs::path path;
  Connection connection;
  SQLite::Database& database;
  std::mutex mutex;  ///< one call at a time
};

Store::Store(const fs::path& path, Mode mode) {
  prepare_file(path, mode);
  impl_ = Impl::guard(path, [&] { return std::make_unique<Impl>(path, mode); });
}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

std::optional<SessionRecord> Store::find_unfinished(const SessionKey& key) const {
  return impl_->guarded([&] { return find_session(impl_->database, key, Completion::unfinished); });
}

std::optional<SessionRecord> Store::find_finished(const SessionKey& key) const {
  return impl_->guarded([&] { return find_session(impl_->database, key, Completion::finished); });
}

SessionId Store::begin_session(const SessionRecord& record) {
  return impl_->guarded([&] { return insert_session(impl_->database, record); });
}

void Store::append(SessionId session, std::int64_t sequence, const Trial& trial,
                   double more_wall_seconds, const std::string& next_config) {
  impl_->guarded([&] {
    SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    insert_trial(impl_->database, session, sequence, trial);
    forget_attempt(impl_->database, session, trial.config.text());
    count_seconds(impl_->database, session, more_wall_seconds);
    if (!next_config.empty()) count_attempt(impl_->database, session, next_config);
    transaction.commit();
  });
}

void Store::begin_attempt(SessionId session, const std::string& config) {
  impl_->guarded([&] { count_attempt(impl_->database, session, config); });
}

void Store::note_death(SessionId session, const std::string& config) {
  impl_->guarded([&] { count_death(impl_->database, session, config); });
}

std::vector<AttemptRecord> Store::attempts(SessionId session) const {
  return impl_->guarded([&] { return read_attempts(impl_->database, session); });
}

void Store::add_wall_seconds(SessionId session, double seconds) {
  impl_->guarded([&] { count_seconds(impl_->database, session, seconds); });
}

void Store::finish(SessionId session, SessionState state, double wall_seconds,
                   const std::optional<BestRecord>& best) {
  impl_->guarded([&] {
    SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    update_session(impl_->database, session, state, wall_seconds);
    if (best) {
      insert_best(impl_->database, session, *best);
    }
    transaction.commit();
  });
}

std::size_t Store::add_sessions(const std::vector<FinishedSession>& sessions) {
  return impl_->guarded([&] {
    SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    std::size_t added = 0;
    for (const FinishedSession& session : sessions) {
      if (session.best && has_best(impl_->database, *session.best)) continue;
      insert_finished(impl_->database, session);
      ++added;
    }
    transaction.commit();
    return added;
  });
}

void Store::reopen(SessionId session) {
  impl_->guarded([&] {
    SQLite::Statement update(
        impl_->database, "UPDATE sessions SET state = 'running', finished_at = NULL WHERE id = ?");
    update.bind(1, session);
    update.exec();
  });
}

std::vector<SessionRecord> Store::sessions() const {
  return impl_->guarded([&] { return read_sessions(impl_->database, std::nullopt); });
}

std::optional<SessionRecord> Store::session(SessionId id) const {
  return impl_->guarded([&]() -> std::optional<SessionRecord> {
    std::vector<SessionRecord> rows = read_sessions(impl_->database, id);
    return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
  });
}

std::vector<TrialRecord> Store::trials(SessionId session) const {
  return impl_->guarded([&] { return read_trials(impl_->database, session); });
}

void Store::add_drift(SessionId session, const DriftRecord& drift) {
  impl_->guarded([&] { insert_drift(impl_->database, session, drift); });
}

std::vector<DriftRecord> Store::drift(SessionId session) const {
  return impl_->guarded([&] { return read_drift(impl_->database, session); });
}

std::vector<BestRecord> Store::bests(const std::string& kernel,
                                     const std::string& objective) const {
  return impl_->guarded([&] {
    const SQLite::Transaction snapshot(impl_->database);  // all rows as of one moment
    return read_bests(impl_->database, kernel, objective);
  });
}

std::optional<BestRecord> Store::best_of(SessionId session) const {
  return impl_->guarded([&] { return read_best_of(impl_->database, session); });
}

std::map<SessionId, SessionAnswer> Store::answers() const {
  return impl_->guarded([&] { return read_session_answers(impl_->database); });
}

Store::Info Store::info() const {
  return impl_->guarded([&] {
    const SQLite::Transaction snapshot(impl_->database);
    Info info;
    info.path = impl_->path.string();
    std::error_code error;
    info.bytes = static_cast<std::int64_t>(fs::file_size(impl_->path, error));
    SQLite::Database& database = impl_->database;
    info.schema_version = database.execAndGet("PRAGMA user_version").getInt();
    info.sessions = database.execAndGet("SELECT count(*) FROM sessions").getInt64();
    info.trials = database.execAndGet("SELECT count(*) FROM trials").getInt64();
    info.failures =
        database.execAndGet("SELECT count(*) FROM trials WHERE outcome <> 'ok'").getInt64();
    info.bests = database.execAndGet("SELECT count(*) FROM best").getInt64();
    SQLite::Statement devices(impl_->database,
                              "SELECT DISTINCT device FROM sessions ORDER BY device");
    while (devices.executeStep()) {
      info.devices.push_back(devices.getColumn(0).getString());
    }
    return info;
  });
}

std::vector<std::string> Store::check() const {
  return impl_->guarded([&] {
    const SQLite::Transaction snapshot(impl_->database);
    return check_rows(impl_->database);
  });
}

void Store::publish(const fs::path& path) const {
  impl_->guarded([&] { publish_copy(impl_->database, impl_->path, path); });
}

fs::path default_database_path() {
  const auto environment = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string path = environment("KILN_DB"); !path.empty()) {
    return path;
  }
  if (const std::string data = environment("XDG_DATA_HOME"); !data.empty()) {
    return fs::path(data) / "kiln" / "kiln.db";
  }
  const std::string home = environment("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".local" / "share" / "kiln" / "kiln.db";
}

}  // namespace kiln
