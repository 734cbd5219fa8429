// Copies the rows of a session from one database to another. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace SQLite {
class Database;
}

namespace kiln {

/// A best of one file, to be sorted among the bests of all files.
struct BestRow {
  std::int64_t id = 0;  ///< row id in its file
  std::string published_at;
};
[[nodiscard]] std::vector<BestRow> best_rows_of(SQLite::Database& source, SessionId session);

/// Copies session `from` of `source` with its trials and samples; returns its id in `target`.
[[nodiscard]] SessionId copy_session(SQLite::Database& source, SessionId from,
                                     SQLite::Database& target);
/// Copies one best to the session `to` of `target`.
void copy_best(SQLite::Database& source, std::int64_t best, SQLite::Database& target, SessionId to);

}  // namespace kiln
