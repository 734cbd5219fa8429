// The rows that a lookup of the command line may use: those of the database and the shipped ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace kiln::cli {

struct RowSources {
  std::filesystem::path database;
  bool must_exist = false;  ///< the database was named by the user
  bool shipped = true;      ///< the rows that are part of Kiln answer as the last layer
};

/// Is there such a database? Warns if there is none, though KILN_DB names it.
[[nodiscard]] bool exists_or_warn(const std::filesystem::path& database);

/// The database; nullopt where none need be there and none is. Throws DatabaseError where it must
/// be there and is not, or cannot be read.
[[nodiscard]] std::optional<Store> open_rows(const RowSources& sources);

/// The rows of `kernel` for this objective; shipped ones are for time alone. Throws DatabaseError
/// where the database cannot be read.
[[nodiscard]] std::vector<BestRecord> known_bests(const RowSources& sources,
                                                  const std::optional<Store>& database,
                                                  const std::string& kernel,
                                                  const std::string& objective);

}  // namespace kiln::cli
