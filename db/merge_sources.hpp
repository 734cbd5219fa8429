// The databases that a merge reads, and which of their sessions stay. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/transient_error.hpp"
#include "db/connection.hpp"
#include "db/merge.hpp"
#include "db/server/server_place.hpp"
#include "db/session_digest.hpp"
#include "db/sql.hpp"

namespace kiln {

/// A database to read, as of one moment.
struct MergedSource {
  explicit MergedSource(std::unique_ptr<Connection> opened)
      : connection(std::move(opened)),
        snapshot(connection->database(), sql::Access::snapshot),
        sessions(read_digests(connection->database())) {}

  [[nodiscard]] sql::Database& database() const { return connection->database(); }

  std::unique_ptr<Connection> connection;
  sql::Transaction snapshot;
  std::vector<SessionDigest> sessions;
};

/// A session of one of the sources.
struct MergedCopy {
  MergedSource* source = nullptr;
  const SessionDigest* session = nullptr;
};

/// Runs `work`; its errors get the place in front.
template <typename Work>
auto naming(const std::filesystem::path& place, Work&& work) {
  try {
    return work();
  } catch (const sql::Error& error) {
    const std::string text = shown_place(place) + ": " + error.what();
    if (error.failure() == sql::Failure::lost) throw TransientError(ExitCode::bad_database, text);
    throw DatabaseError(text);
  } catch (const nlohmann::json::exception& error) {
    throw DatabaseError(shown_place(place) + ": a row cannot be read: " + error.what());
  }
}

/// Throws DatabaseError, or TransientError for a server that is away.
[[nodiscard]] std::unique_ptr<MergedSource> open_source(const std::filesystem::path& place);

/// Returns the sessions to keep: those that no other copy extends, in the order of all sources.
/// Counts the others in `report`.
[[nodiscard]] std::vector<MergedCopy> choose_copies(
    const std::vector<std::unique_ptr<MergedSource>>& sources, MergeReport& report);

}  // namespace kiln
