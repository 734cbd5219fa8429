// SPDX-License-Identifier: Apache-2.0
#include "db/merge.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <tuple>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "db/connection.hpp"
#include "db/explain.hpp"
#include "db/file_system.hpp"
#include "db/publish.hpp"
#include "db/schema.hpp"
#include "db/session_copy.hpp"
#include "db/session_digest.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

/// A file to read, as of one moment.
struct MergedFile {
  MergedFile(const fs::path& path, Store::Mode mode)
      : connection(path, mode),
        snapshot(connection.database()),
        sessions(read_digests(connection.database())) {}

  Connection connection;
  SQLite::Transaction snapshot;
  std::vector<SessionDigest> sessions;
};

/// A session of one of the files.
struct Copy {
  MergedFile* source = nullptr;
  const SessionDigest* session = nullptr;
};

template <typename Work>
auto naming(const fs::path& path, Work&& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    throw DatabaseError(path.string() + ": " + explain(error));
  } catch (const nlohmann::json::exception& error) {
    throw DatabaseError(path.string() + ": a row cannot be read: " + error.what());
  }
}

std::unique_ptr<MergedFile> open_source(const fs::path& path, Store::Mode mode) {
  prepare_file(path, mode);
  return naming(path, [&] { return std::make_unique<MergedFile>(path, mode); });
}

// Does `other` make `one` superfluous? Of equal ones the first in a fixed order stays.
bool outdoes(const Copy& other, const Copy& one) {
  if (!extends(*other.session, *one.session)) {
    return false;
  }
  if (!extends(*one.session, *other.session)) {
    return true;
  }
  return other.session->recorded < one.session->recorded;
}

/// What stays: every session that no other copy outdoes, in the order of all files.
std::vector<Copy> choose(const std::vector<std::unique_ptr<MergedFile>>& sources,
                         MergeReport& report) {
  std::map<std::string, std::vector<Copy>> by_identity;
  for (const std::unique_ptr<MergedFile>& source : sources) {
    for (const SessionDigest& session : source->sessions) {
      by_identity[session.identity].push_back({source.get(), &session});
    }
  }
  std::map<std::string, Copy> kept;
  for (const auto& [identity, copies] : by_identity) {
    std::map<std::string, Copy> here;  // copies that are equal in all have one order
    for (const Copy& one : copies) {
      if (std::none_of(copies.begin(), copies.end(),
                       [&](const Copy& other) { return outdoes(other, one); })) {
        here.emplace(one.session->order(), one);
      }
    }
    report.repeated += copies.size() - here.size();
    report.apart += here.size() - 1;
    kept.merge(here);
  }
  std::vector<Copy> chosen;
  for (const auto& [order, copy] : kept) {
    chosen.push_back(copy);
  }
  return chosen;
}

// The newest best of a problem is the row that was stored last: so they are stored by time.
void copy_bests(const std::vector<Copy>& chosen, const std::vector<SessionId>& ids,
                SQLite::Database& target) {
  std::vector<std::tuple<std::string, std::size_t, std::int64_t>> bests;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const BestRow& best :
         best_rows_of(chosen[i].source->connection.database(), chosen[i].session->id)) {
      bests.emplace_back(best.published_at, i, best.id);
    }
  }
  std::sort(bests.begin(), bests.end());
  for (const auto& [published_at, index, best] : bests) {
    copy_best(chosen[index].source->connection.database(), best, target, ids[index]);
  }
}

void write_merged(const std::vector<Copy>& chosen, const fs::path& path, MergeReport& report) {
  SQLite::Database target(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  target.exec("PRAGMA synchronous = OFF");  // replace_file() syncs it
  prepare_schema(target, path.string());
  SQLite::Transaction transaction(target);
  std::vector<SessionId> ids;
  for (const Copy& copy : chosen) {
    ids.push_back(copy_session(copy.source->connection.database(), copy.session->id, target));
    report.trials += copy.session->trials.size();
    report.bests += copy.session->bests.size();
  }
  copy_bests(chosen, ids, target);
  transaction.commit();
  report.sessions = chosen.size();
}

}  // namespace

MergeReport merge_databases(const std::vector<fs::path>& sources, const fs::path& name) {
  std::error_code error;
  const fs::path target = linked_file(name);  // a link stays one
  std::vector<std::unique_ptr<MergedFile>> files;
  for (const fs::path& path : sources) {
    if (!fs::equivalent(path, target, error)) {
      files.push_back(open_source(path, Store::Mode::read));
    }
  }
  const bool is_there = fs::exists(target, error);
  if (is_there) {
    files.push_back(open_source(target, Store::Mode::write));
  } else {
    prepare_file(target, Store::Mode::write);
  }
  const std::unique_ptr<WriterLock> new_lock =
      is_there ? nullptr : std::make_unique<WriterLock>(target);

  MergeReport report;
  report.files = files.size();
  const fs::path temporary = temporary_for(target);
  fs::remove(temporary, error);
  naming(target, [&] {
    try {
      write_merged(choose(files, report), temporary, report);
    } catch (...) {
      fs::remove(temporary, error);
      throw;
    }
  });
  std::unique_ptr<WriterLock> lock;
  if (is_there) {
    lock = naming(target, [&] {
      files.back()->snapshot.commit();  // nothing was written
      return files.back()->connection.close();
    });
  }
  if (fs::exists(target.string() + "-wal", error)) {
    fs::remove(temporary, error);
    throw DatabaseError(target.string() +
                        ": is being read by another program; try again when that "
                        "has ended");
  }
  replace_file(temporary, target);
  return report;
}

void dump_database(const fs::path& path, const std::function<void(const std::string&)>& sink) {
  const std::unique_ptr<MergedFile> source = open_source(path, Store::Mode::read);
  std::map<std::string, const SessionDigest*> sessions;
  for (const SessionDigest& session : source->sessions) {
    sessions.emplace(session.order(), &session);
  }
  sink(R"({"kiln_dump":1})");
  for (const auto& entry : sessions) {
    naming(path, [&] { write_session_text(source->connection.database(), *entry.second, sink); });
  }
}

}  // namespace kiln
