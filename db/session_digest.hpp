// SessionDigest: a stored session as canonical text, and short keys of it, so that sessions of
// different files can be compared. Private to db/.
//
// The text holds what was measured and nothing about the file: no row ids, no times of insertion.
// The dump of a database is this text; two sessions are the same when their texts are equal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace SQLite {
class Database;
}

namespace kiln {

struct SessionDigest {
  SessionId id = 0;        ///< in its file
  std::string started_at;  ///< UTC
  std::string identity;    ///< what never changes in a session, as one line of JSON
  std::string progress;    ///< state, end and wall time, as one line of JSON
  int state_rank = 0;      ///< running < interrupted < finished
  double wall_seconds = 0;
  std::string finished_at;
  std::vector<std::string> trials;  ///< key i covers trials 1 to i + 1
  std::vector<std::string> bests;   ///< one key a best, sorted
  std::string recorded;             ///< key of when its rows were stored: not part of the text

  /// Sorts sessions of all files into one order: by start, then by content.
  [[nodiscard]] std::string order() const;
};

/// One line of a session's text, without its end.
using LineSink = std::function<void(const std::string&)>;

/// Digests of every session, by row id.
[[nodiscard]] std::vector<SessionDigest> read_digests(SQLite::Database& database);

/// The lines of one session: itself, its trials by sequence, its bests by time of publication.
void write_session_text(SQLite::Database& database, const SessionDigest& session,
                        const LineSink& sink);

/// Is `later` the same session as `earlier`, at the same point or further on? A partial order: of
/// two copies that went on apart neither extends the other.
[[nodiscard]] bool extends(const SessionDigest& later, const SessionDigest& earlier);

}  // namespace kiln
