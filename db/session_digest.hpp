// SessionDigest: short keys of a stored session's canonical text, so that sessions of different
// files can be compared. Private to db/.
//
// The text holds the measurements and nothing about the file: no row ids, no times of insertion.
// The dump of a database is this text. Two sessions are the same if their texts are equal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "db/store.hpp"

namespace kiln::sql {
class Database;
}

namespace kiln {

/// Which sessions: those of this kernel, problem and device; all if `kernel` is empty.
struct DigestKey {
  std::string kernel = {};
  std::string problem = {};
  std::string device = {};
  friend bool operator<(const DigestKey& a, const DigestKey& b) {
    return std::tie(a.kernel, a.problem, a.device) < std::tie(b.kernel, b.problem, b.device);
  }
};

struct SessionDigest {
  SessionId id = 0;        ///< row id in its file
  std::string started_at;  ///< UTC
  DigestKey key;
  Timing timing = Timing::eager;
  std::string identity;  ///< the parts of a session that never change, as one line of JSON
  std::string progress;  ///< state, end and wall time, as one line of JSON
  int state_rank = 0;    ///< running < interrupted < finished
  double wall_seconds = 0;
  std::string finished_at;
  std::vector<std::string> trials;  ///< key i covers trials 1 to i + 1
  std::vector<std::string> bests;   ///< one key per best, sorted
  /// Key of the times at which its rows were stored; not part of the text.
  std::string recorded;

  /// Sorts sessions of all files into one order: by start, then by content.
  [[nodiscard]] std::string order() const;
};

/// One line of a session's text, without its end.
using LineSink = std::function<void(const std::string&)>;

/// Digests of these sessions, by row id.
[[nodiscard]] std::vector<SessionDigest> read_digests(sql::Database& database,
                                                      const DigestKey& key = {});

/// A best of one store; equal keys: equal bests.
struct BestKey {
  std::int64_t id = 0;  ///< row id in its store
  std::string published_at;
  std::string key;
};
/// The bests of a session, by time of publication.
[[nodiscard]] std::vector<BestKey> read_best_keys(sql::Database& database, SessionId session);

/// The lines of one session: itself, its trials by sequence, its bests by time of publication.
void write_session_text(sql::Database& database, const SessionDigest& session,
                        const LineSink& sink);

/// Returns whether `later` is the same session as `earlier`, at the same point or further on. This
/// is a partial order: if two copies went on separately, neither extends the other.
[[nodiscard]] bool extends(const SessionDigest& later, const SessionDigest& earlier);

}  // namespace kiln
