// SPDX-License-Identifier: Apache-2.0
#include "db/store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "db/rows.hpp"
#include "db/schema.hpp"
#include "db/writer_lock.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr int kBusyMilliseconds = 5000;

int open_flags(Store::Mode mode) {
  switch (mode) {
    case Store::Mode::write:
      return SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
    case Store::Mode::read:
      return SQLite::OPEN_READONLY;
    case Store::Mode::immutable:
      return SQLite::OPEN_READONLY | SQLite::OPEN_URI;
  }
  return SQLite::OPEN_READONLY;
}

// '?' and '#' end the path of a URI, '%' starts an escape.
std::string immutable_uri(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    switch (c) {
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      case '%':
        uri += "%25";
        break;
      default:
        uri += c;
    }
  }
  return uri + "?immutable=1";
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// A reader of a WAL file writes its shared memory beside it. Where it may not, a file that no
// writer has open (it would have a WAL) is complete and read as it lies.
Store::Mode mode_for(const fs::path& path, Store::Mode asked) {
  const bool quiet = asked == Store::Mode::read && ::access(folder_of(path).c_str(), W_OK) != 0 &&
                     !fs::exists(path.string() + "-wal");
  return quiet ? Store::Mode::immutable : asked;
}

std::string explain(const SQLite::Exception& error) {
  constexpr int kCorrupt = 11;       // SQLITE_CORRUPT
  constexpr int kNotADatabase = 26;  // SQLITE_NOTADB
  switch (error.getErrorCode()) {
    case kCorrupt:
      return std::string("is damaged (") + error.what() +
             "); `sqlite3 FILE .recover` saves what can be read; name another file with --db";
    case kNotADatabase:
      return "is no database, or damaged from its first bytes on; name another file with --db";
    default:
      return error.what();
  }
}

void prepare_file(const fs::path& path, Store::Mode mode) {
  std::error_code error;
  // SQLite would take these for databases that nobody keeps.
  if (path.empty() || path == ":memory:") {
    throw DatabaseError("'" + path.string() + "' names no database file; name one with --db");
  }
  if (fs::is_directory(path, error)) {
    throw DatabaseError(path.string() + ": is a folder; --db or KILN_DB names a file in it");
  }
  if (mode == Store::Mode::write) {
    fs::create_directories(folder_of(path), error);
    if (error) {
      throw DatabaseError(path.string() + ": cannot create its folder: " + error.message());
    }
  } else if (!fs::exists(path, error)) {
    throw DatabaseError(
        path.string() +
        ": there is no such database; `kiln tune` or `kiln sweep` creates one (--db names it)");
  }
}

// A file's content, or a folder's names. errno says why not.
bool sync_to_disk(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool synced = ::fsync(file) == 0;
  const int reason = errno;
  ::close(file);
  errno = reason;
  return synced;
}

}  // namespace

struct Store::Impl {
  Impl(const fs::path& path_in, Mode mode)
      : path(path_in),
        lock(mode == Mode::write ? std::make_unique<WriterLock>(path_in) : nullptr),
        database(mode == Mode::immutable ? immutable_uri(path_in) : path_in.string(),
                 open_flags(mode), kBusyMilliseconds) {
    if (mode == Mode::write) {
      database.exec("PRAGMA synchronous = FULL");  // a commit that returned is on the disk
      prepare_schema(database, path.string());
      // WAL needs shared memory, which network file systems lack.
      database.exec(is_network_file_system(folder_of(path)) ? "PRAGMA journal_mode = DELETE"
                                                            : "PRAGMA journal_mode = WAL");
    } else {
      require_schema(database, path.string());
    }
    database.exec("PRAGMA foreign_keys = ON");
    database.exec("PRAGMA trusted_schema = OFF");
  }

  // Runs `work`, turning SQLite's errors into ours with the file's name in front.
  template <typename Work>
  auto guarded(Work&& work) {
    return guard(path, std::forward<Work>(work));
  }

  template <typename Work>
  static auto guard(const fs::path& path, Work&& work) {
    try {
      return work();
    } catch (const SQLite::Exception& error) {
      throw DatabaseError(path.string() + ": " + explain(error));
    } catch (const nlohmann::json::exception& error) {
      throw DatabaseError(path.string() + ": a row holds malformed JSON: " + error.what());
    } catch (const InputError& error) {
      throw DatabaseError(path.string() + ": a row cannot be read: " + error.what());
    }
  }

  fs::path path;
  std::unique_ptr<WriterLock> lock;
  SQLite::Database database;
};

Store::Store(const fs::path& path, Mode mode) {
  prepare_file(path, mode);
  impl_ = Impl::guard(path, [&] { return std::make_unique<Impl>(path, mode_for(path, mode)); });
}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

std::optional<SessionRecord> Store::find_unfinished(const SessionKey& key) const {
  return impl_->guarded([&] { return find_session(impl_->database, key, "state <> 'finished'"); });
}

std::optional<SessionRecord> Store::find_finished(const SessionKey& key) const {
  return impl_->guarded([&] { return find_session(impl_->database, key, "state = 'finished'"); });
}

SessionId Store::begin_session(const SessionRecord& record) {
  return impl_->guarded([&] { return insert_session(impl_->database, record); });
}

void Store::append(SessionId session, std::int64_t sequence, const Trial& trial) {
  impl_->guarded([&] {
    SQLite::Transaction transaction(impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    insert_trial(impl_->database, session, sequence, trial);
    transaction.commit();
  });
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

std::vector<BestRecord> Store::bests(const std::string& kernel) const {
  return impl_->guarded([&] { return read_bests(impl_->database, kernel); });
}

Store::Info Store::info() const {
  return impl_->guarded([&] {
    Info info;
    info.path = impl_->path.string();
    std::error_code error;
    info.bytes = static_cast<std::int64_t>(fs::file_size(impl_->path, error));
    const auto count = [&](const char* query) {
      return impl_->database.execAndGet(query).getInt64();
    };
    info.schema_version = static_cast<int>(count("PRAGMA user_version"));
    info.sessions = count("SELECT count(*) FROM sessions");
    info.trials = count("SELECT count(*) FROM trials");
    info.failures = count("SELECT count(*) FROM trials WHERE outcome <> 'ok'");
    info.bests = count("SELECT count(*) FROM best");
    SQLite::Statement devices(impl_->database,
                              "SELECT DISTINCT device FROM sessions ORDER BY device");
    while (devices.executeStep()) {
      info.devices.push_back(devices.getColumn(0).getString());
    }
    return info;
  });
}

std::vector<std::string> Store::check() const {
  return impl_->guarded([&] { return check_rows(impl_->database); });
}

void Store::publish(const fs::path& path) const {
  impl_->guarded([&] {
    std::error_code error;
    if (fs::equivalent(path, impl_->path, error)) {
      throw DatabaseError(path.string() + ": is the database itself; publish to another file");
    }
    const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
    fs::remove(temporary, error);
    SQLite::Statement vacuum(impl_->database, "VACUUM INTO ?");
    vacuum.bind(1, temporary.string());
    vacuum.exec();
    if (!sync_to_disk(temporary)) {
      const std::string reason = std::strerror(errno);
      fs::remove(temporary, error);
      throw DatabaseError(temporary.string() + ": cannot be written to the disk: " + reason);
    }
    fs::rename(temporary, path, error);
    if (error) {
      const std::string reason = error.message();
      fs::remove(temporary, error);
      throw DatabaseError(path.string() + ": cannot be replaced: " + reason);
    }
    sync_to_disk(folder_of(path));  // makes the new name durable; the content already is
  });
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
  return fs::path(home.empty() ? "." : home) / ".local" / "share" / "kiln" / "kiln.db";
}

}  // namespace kiln
