// SPDX-License-Identifier: Apache-2.0
#include "db/merge.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <tuple>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/errors.hpp"
#include "db/file_system.hpp"
#include "db/merge_sources.hpp"
#include "db/publish.hpp"
#include "db/schema.hpp"
#include "db/server/server_merge.hpp"
#include "db/session_copy.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

// The newest best of a problem is the row that was stored last: so they are stored by time.
void copy_bests(const std::vector<MergedCopy>& chosen, const std::vector<SessionId>& ids,
                sql::Database& target) {
  std::vector<std::tuple<std::string, std::size_t, std::int64_t>> bests;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const BestRow& best : best_rows_of(chosen[i].source->database(), chosen[i].session->id)) {
      bests.emplace_back(best.published_at, i, best.id);
    }
  }
  std::sort(bests.begin(), bests.end());
  for (const auto& [published_at, index, best] : bests) {
    copy_best(chosen[index].source->database(), best, target, ids[index]);
  }
}

std::unique_ptr<SQLite::Database> new_file(const fs::path& path) {
  auto file = std::make_unique<SQLite::Database>(path.string(),
                                                 SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  file->exec("PRAGMA synchronous = OFF");  // replace_file() syncs it
  prepare_schema(*file, path.string());
  return file;
}

void write_merged(const std::vector<MergedCopy>& chosen, const fs::path& path,
                  MergeReport& report) {
  SqliteDatabase target(new_file(path));
  sql::Transaction transaction(target, sql::Access::write);
  std::vector<SessionId> ids;
  for (const MergedCopy& copy : chosen) {
    ids.push_back(copy_session(copy.source->database(), copy.session->id, target));
    report.trials += copy.session->trials.size();
    report.bests += copy.session->bests.size();
  }
  copy_bests(chosen, ids, target);
  transaction.commit();
  report.sessions = chosen.size();
}

/// The target of a merge as a file that is there: read like a source, and locked.
struct TargetFile {
  FileConnection* connection = nullptr;  ///< owned by `source`
  std::unique_ptr<MergedSource> source;
};

TargetFile open_target(const fs::path& target, std::unique_ptr<WriterLock> lock) {
  return naming(target, [&] {
    auto opened = std::make_unique<FileConnection>(target, std::move(lock));
    FileConnection* connection = opened.get();
    return TargetFile{connection, std::make_unique<MergedSource>(std::move(opened))};
  });
}

MergeReport merge_into_file(std::vector<std::unique_ptr<MergedSource>> sources,
                            const fs::path& target) {
  std::error_code error;
  FileConnection* there = nullptr;
  prepare_place(target, Store::Mode::write);
  auto lock = std::make_unique<WriterLock>(target);
  if (fs::exists(target, error)) {  // only now: its last writer may have made it
    TargetFile file = open_target(target, std::move(lock));
    there = file.connection;
    sources.push_back(std::move(file.source));
  }
  MergeReport report;
  report.files = sources.size();
  const fs::path temporary = temporary_for(target);
  fs::remove(temporary, error);
  naming(target, [&] {
    try {
      write_merged(choose_copies(sources, report), temporary, report);
    } catch (const SQLite::Exception& failure) {
      fs::remove(temporary, error);
      throw translated(failure);
    } catch (...) {
      fs::remove(temporary, error);
      throw;
    }
  });
  if (there != nullptr) {
    naming(target, [&] {
      sources.back()->snapshot.commit();  // nothing was written
      lock = there->close();
    });
  }
  if (fs::exists(target.string() + "-wal", error)) {
    fs::remove(temporary, error);
    throw DatabaseError(target.string() +
                        ": is being read by another program; try again when that has ended");
  }
  replace_file(temporary, target);
  return report;
}

}  // namespace

MergeReport merge_databases(const std::vector<fs::path>& sources, const fs::path& name) {
  std::error_code error;
  const bool is_server = names_server(name);
  const fs::path target = is_server ? name : linked_file(name);  // a link stays one
  std::vector<std::unique_ptr<MergedSource>> opened;
  for (const fs::path& place : sources) {
    const bool is_target = place == target || (!is_server && fs::equivalent(place, target, error));
    if (!is_target) opened.push_back(open_source(place));
  }
  if (!is_server) return merge_into_file(std::move(opened), target);
  MergeReport report = merge_into_server(opened, target);
  const Store::Info info = Store(target, Store::Mode::read).info();
  report.sessions = static_cast<std::size_t>(info.sessions);
  report.trials = static_cast<std::size_t>(info.trials);
  report.bests = static_cast<std::size_t>(info.bests);
  return report;
}

void write_file_of(const fs::path& place, const fs::path& path) {
  std::vector<std::unique_ptr<MergedSource>> sources;
  sources.push_back(open_source(place));
  MergeReport report;
  naming(place, [&] {
    try {
      write_merged(choose_copies(sources, report), path, report);
    } catch (const SQLite::Exception& failure) {
      throw translated(failure);
    }
  });
}

void dump_database(const fs::path& path, const std::function<void(const std::string&)>& sink) {
  const std::unique_ptr<MergedSource> source = open_source(path);
  std::map<std::string, const SessionDigest*> sessions;
  for (const SessionDigest& session : source->sessions) {
    sessions.emplace(session.order(), &session);
  }
  sink(R"({"kiln_dump":1})");
  for (const auto& entry : sessions) {
    naming(path, [&] { write_session_text(source->database(), *entry.second, sink); });
  }
}

}  // namespace kiln
