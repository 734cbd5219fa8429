// SPDX-License-Identifier: Apache-2.0
#include "db/store.hpp"

#include <array>
#include <cstdlib>
#include <mutex>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/transient_error.hpp"
#include "db/attempts.hpp"
#include "db/connection.hpp"
#include "db/explain.hpp"
#include "db/measured_rows.hpp"
#include "db/publish.hpp"
#include "db/rows.hpp"
#include "db/server/server_place.hpp"
#include "db/session_answers.hpp"
#include "db/sql.hpp"

namespace kiln {
namespace fs = std::filesystem;

struct Store::Impl {
  Impl(const fs::path& place_in, Mode mode_in)
      : place(place_in), mode(mode_in), connection(open_connection(place_in, mode_in)) {}

  [[nodiscard]] sql::Database& database() const { return connection->database(); }

  /// Every writer of a session's rows calls this first. Throws a passing error if a lost connection
  /// of this store still holds the session: the server notices its end later than we do.
  void claim(SessionId session) {
    try {
      database().claim_session(session);
    } catch (const sql::Error& error) {
      const auto before = ours.find(session);
      if (error.failure() != sql::Failure::other || before == ours.end() ||
          database().writer_of(session) != before->second) {
        throw;
      }
      throw sql::Error("the server still holds the lock of the connection that was lost",
                       sql::Failure::lost);
    }
    ours[session] = database().connection_number();
  }

  // Runs `work`, turning errors of the store into ours with its name in front. A server that went
  // away is asked again by the next call.
  template <typename Work>
  auto guarded(Work&& work) {
    const std::scoped_lock lock(mutex);
    return guard(place, [&] {
      if (connection->is_lost()) connection = open_connection(place, mode);
      connection->require_in_place();
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
        connection->require_in_place();
      } else {
        auto result = work();
        connection->require_in_place();
        return result;
      }
    });
  }

  template <typename Work>
  static auto guard(const fs::path& place, Work&& work) {
    const std::string name = shown_place(place);
    try {
      return work();
    } catch (const sql::Error& error) {
      if (error.failure() == sql::Failure::full_disk && !names_server(place)) {
        throw TransientError(ExitCode::bad_database, name + ": " + kFullDisk, kAfterFullDisk);
      }
      if (error.failure() == sql::Failure::locked) {
        throw TransientError(ExitCode::bad_database, name + ": " + kLocked, kAfterLocked);
      }
      if (error.failure() != sql::Failure::other) {
        throw TransientError(ExitCode::bad_database, name + ": " + error.what());
      }
      throw DatabaseError(name + ": " + error.what());
    } catch (const nlohmann::json::exception& error) {
      throw DatabaseError(name + ": a row holds malformed JSON: " + error.what());
    } catch (const DatabaseError&) {
      throw;
    } catch (const std::exception& error) {  // an unknown word, a row without its session
      throw DatabaseError(name + ": a row cannot be read: " + error.what());
    }
  }

  fs::path place;
  Mode mode;
  std::unique_ptr<Connection> connection;
  std::map<SessionId, std::int64_t> ours;  ///< claimed sessions, and by which connection
  std::mutex mutex;                        ///< one call at a time
};

Store::Store(const fs::path& place, Mode mode) {
  prepare_place(place, mode);
  impl_ = Impl::guard(place, [&] { return std::make_unique<Impl>(place, mode); });
}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

std::optional<SessionRecord> Store::find_unfinished(const SessionKey& key) const {
  return impl_->guarded([&] {
    std::optional<SessionRecord> found =
        find_session(impl_->database(), key, Completion::unfinished);
    // Before its trials are read: what another one is adding would be missed.
    if (found && impl_->mode == Mode::write) impl_->claim(found->id);
    return found;
  });
}

std::optional<SessionRecord> Store::find_finished(const SessionKey& key) const {
  return impl_->guarded([&] { return find_session(impl_->database(), key, Completion::finished); });
}

SessionId Store::begin_session(const SessionRecord& record) {
  return impl_->guarded([&] {
    const SessionId id = insert_session(impl_->database(), record);
    impl_->claim(id);
    return id;
  });
}

void Store::append(SessionId session, std::int64_t sequence, const Trial& trial,
                   double more_wall_seconds, const std::string& next_config) {
  impl_->guarded([&] {
    impl_->claim(session);
    sql::Transaction transaction(impl_->database(), sql::Access::write);
    insert_trial(impl_->database(), session, sequence, trial);
    forget_attempt(impl_->database(), session, trial.config.text());
    count_seconds(impl_->database(), session, more_wall_seconds);
    if (!next_config.empty()) count_attempt(impl_->database(), session, next_config);
    transaction.commit();
  });
}

void Store::begin_attempt(SessionId session, const std::string& config) {
  impl_->guarded([&] {
    impl_->claim(session);
    count_attempt(impl_->database(), session, config);
  });
}

void Store::note_death(SessionId session, const std::string& config) {
  impl_->guarded([&] {
    impl_->claim(session);
    count_death(impl_->database(), session, config);
  });
}

std::vector<AttemptRecord> Store::attempts(SessionId session) const {
  return impl_->guarded([&] { return read_attempts(impl_->database(), session); });
}

void Store::add_wall_seconds(SessionId session, double seconds) {
  impl_->guarded([&] {
    impl_->claim(session);
    count_seconds(impl_->database(), session, seconds);
  });
}

void Store::finish(SessionId session, SessionState state, double wall_seconds,
                   const std::optional<BestRecord>& best) {
  impl_->guarded([&] {
    impl_->claim(session);
    sql::Transaction transaction(impl_->database(), sql::Access::write);
    update_session(impl_->database(), session, state, wall_seconds);
    if (best) {
      insert_best(impl_->database(), session, *best);
    }
    transaction.commit();
    impl_->database().release_session(session);
    impl_->ours.erase(session);
  });
}

std::size_t Store::add_sessions(const std::vector<FinishedSession>& sessions) {
  return impl_->guarded([&] {
    sql::Transaction transaction(impl_->database(), sql::Access::write);
    std::size_t added = 0;
    for (const FinishedSession& session : sessions) {
      if (session.best && has_best(impl_->database(), *session.best)) continue;
      insert_finished(impl_->database(), session);
      ++added;
    }
    transaction.commit();
    return added;
  });
}

void Store::reopen(SessionId session, const std::string& budget) {
  impl_->guarded([&] {
    impl_->claim(session);
    sql::Statement update(impl_->database(),
                          "UPDATE sessions SET state = 'running', finished_at = NULL, budget = ? "
                          "WHERE id = ?");
    update.bind(1, budget);
    update.bind(2, session);
    update.run();
  });
}

void Store::remove_sessions(const std::vector<SessionId>& sessions) {
  impl_->guarded([&] {
    for (const SessionId session : sessions) impl_->claim(session);
    auto& database = impl_->database();
    sql::Transaction transaction(database, sql::Access::write);
    for (const SessionId session : sessions) {
      // Rows go before those that they refer to.
      std::array removals = {
          sql::Statement(
              database,
              "DELETE FROM samples WHERE trial IN (SELECT id FROM trials WHERE session = ?)"),
          sql::Statement(
              database,
              "DELETE FROM metrics WHERE trial IN (SELECT id FROM trials WHERE session = ?)"),
          sql::Statement(
              database,
              "DELETE FROM conditions WHERE trial IN (SELECT id FROM trials WHERE session = ?)"),
          sql::Statement(database, "DELETE FROM trials WHERE session = ?"),
          sql::Statement(
              database,
              "DELETE FROM objectives WHERE best IN (SELECT id FROM best WHERE session = ?)"),
          sql::Statement(database, "DELETE FROM best WHERE session = ?"),
          sql::Statement(database, "DELETE FROM drift WHERE session = ?"),
          sql::Statement(database, "DELETE FROM attempts WHERE session = ?"),
          sql::Statement(database, "DELETE FROM sessions WHERE id = ?")};
      for (sql::Statement& removal : removals) {
        removal.bind(1, session);
        removal.run();
      }
    }
    transaction.commit();
    for (const SessionId session : sessions) {
      impl_->database().release_session(session);
      impl_->ours.erase(session);
    }
  });
}

std::vector<SessionRecord> Store::sessions() const {
  return impl_->guarded([&] { return read_sessions(impl_->database(), std::nullopt); });
}

std::vector<SessionRecord> Store::unfinished(const std::string& kernel) const {
  return impl_->guarded([&] {
    const sql::Transaction snapshot(impl_->database(), sql::Access::snapshot);
    return read_unfinished(impl_->database(), kernel);
  });
}

std::optional<SessionRecord> Store::session(SessionId id) const {
  return impl_->guarded([&]() -> std::optional<SessionRecord> {
    std::vector<SessionRecord> rows = read_sessions(impl_->database(), id);
    return rows.empty() ? std::nullopt : std::optional(std::move(rows.front()));
  });
}

std::vector<TrialRecord> Store::trials(SessionId session) const {
  return impl_->guarded([&] {
    const sql::Transaction snapshot(impl_->database(), sql::Access::snapshot);
    return read_trials(impl_->database(), session);
  });
}

void Store::add_drift(SessionId session, const DriftRecord& drift) {
  impl_->guarded([&] {
    impl_->claim(session);
    insert_drift(impl_->database(), session, drift);
  });
}

std::vector<DriftRecord> Store::drift(SessionId session) const {
  return impl_->guarded([&] { return read_drift(impl_->database(), session); });
}

std::vector<BestRecord> Store::bests(const std::string& kernel,
                                     const std::string& objective) const {
  return impl_->guarded([&] {
    const sql::Transaction snapshot(impl_->database(),
                                    sql::Access::snapshot);  // all rows as of one moment
    return read_bests(impl_->database(), kernel, objective);
  });
}

bool Store::refuses(const BestRecord& best) const {
  return impl_->guarded([&] { return is_refused(impl_->database(), best); });
}

void Store::refuse(SessionId session, const std::string& config, const Failure& failure) {
  impl_->guarded([&] {
    impl_->claim(session);
    sql::Transaction transaction(impl_->database(), sql::Access::write);
    refuse_trial(impl_->database(), session, config, failure);
    transaction.commit();
  });
}

std::optional<BestRecord> Store::best_of(SessionId session) const {
  return impl_->guarded([&] {
    const sql::Transaction snapshot(impl_->database(), sql::Access::snapshot);
    return read_best_of(impl_->database(), session);
  });
}

std::map<SessionId, SessionAnswer> Store::answers() const {
  return impl_->guarded([&] {
    const sql::Transaction snapshot(impl_->database(), sql::Access::snapshot);
    return read_session_answers(impl_->database());
  });
}

Store::Info Store::info() const {
  return impl_->guarded([&] {
    const sql::Transaction snapshot(impl_->database(), sql::Access::snapshot);
    sql::Database& database = impl_->database();
    Info info;
    info.path = shown_place(impl_->place);
    info.bytes = database.bytes();
    info.schema_version = database.schema_version();
    info.sessions = sql::query_integer(database, "SELECT count(*) FROM sessions");
    info.trials = sql::query_integer(database, "SELECT count(*) FROM trials");
    info.failures =
        sql::query_integer(database, "SELECT count(*) FROM trials WHERE outcome <> 'ok'");
    info.bests = sql::query_integer(database, "SELECT count(*) FROM best");
    sql::Statement devices(database, "SELECT DISTINCT device FROM sessions ORDER BY device");
    while (devices.step()) info.devices.push_back(devices.text(0));
    return info;
  });
}

std::vector<std::string> Store::check() const {
  return impl_->guarded([&] {
    const sql::Transaction snapshot(impl_->database(), sql::Access::snapshot);
    return check_rows(impl_->database());
  });
}

void Store::publish(const fs::path& path) const {
  impl_->guarded([&] { publish_copy(impl_->database(), impl_->place, path); });
}

void Store::remove() && {
  const std::unique_ptr<Impl> impl = std::move(impl_);
  const auto lock = dynamic_cast<FileConnection&>(*impl->connection).close();
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::error_code error;
    fs::remove(impl->place.string() + suffix, error);
  }
}

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path default_database_path() {
  const std::string named = environment("KILN_DB");
  return named.empty() ? default_database_file() : fs::path(named);
}

fs::path default_database_file() {
  if (const std::string data = environment("XDG_DATA_HOME"); !data.empty()) {
    return fs::path(data) / "kiln" / "kiln.db";
  }
  const std::string home = environment("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".local" / "share" / "kiln" / "kiln.db";
}

}  // namespace kiln
