// What the tuning databases know, read once when a launcher is opened.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <kiln/launcher.hpp>

#include "db/store.hpp"

namespace kiln {

/// The bests of several databases by kernel; those of a database named earlier come first.
struct TunedRows {
  std::map<std::string, std::vector<BestRecord>, std::less<>> by_kernel;
  std::vector<Launcher::Warning> warnings;  ///< one per database that is missing or unusable

  [[nodiscard]] std::span<const BestRecord> of(const std::string& kernel) const;
};

/// Reads the databases of `paths`; when it is empty, the user's (default_database_path()) and the
/// one that is installed with the library. Never fails: a database that cannot be read is a
/// warning.
[[nodiscard]] TunedRows read_databases(const std::vector<std::string>& paths);

}  // namespace kiln
