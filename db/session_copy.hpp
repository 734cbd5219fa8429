// Copies the rows of a session from one database to another. Private to db/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::sql {
class Database;
}

namespace kiln {

/// A best of one file, to be sorted among the bests of all files.
struct BestRow {
  std::int64_t id = 0;  ///< row id in its file
  std::string published_at;
};
[[nodiscard]] std::vector<BestRow> best_rows_of(sql::Database& source, SessionId session);

/// Copies session `from` of `source` with its trials and samples; returns its id in `target`.
[[nodiscard]] SessionId copy_session(sql::Database& source, SessionId from, sql::Database& target);
/// Adds to the session `to` of `target` what session `from` of `source` has beyond it, which
/// extends it: trials, drift, and how far it has come. Bests are copied one by one.
void extend_session(sql::Database& source, SessionId from, sql::Database& target, SessionId to);
/// Copies one best to the session `to` of `target`. `id`: its row id there; nullopt: the newest.
void copy_best(sql::Database& source, std::int64_t best, sql::Database& target, SessionId to,
               std::optional<std::int64_t> id = std::nullopt);

}  // namespace kiln
