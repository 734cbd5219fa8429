// What the tuning databases know, read once when a launcher is opened.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kiln/launcher.hpp>

#include "db/store.hpp"

namespace kiln {

/// The bests of several databases by kernel; those of a database named earlier come first.
struct TunedRows {
  std::map<std::string, std::vector<BestRecord>, std::less<>> by_kernel;
  std::vector<Launcher::Warning> warnings;  ///< one per database that is missing or unusable

  bool locked = false;        ///< a lock was read instead of databases
  bool asks_shipped = false;  ///< the wisdom inside the library is the last layer

  /// Hands out the rows of a kernel, which are not kept. The shipped ones are not among them.
  [[nodiscard]] std::vector<BestRecord> take(const std::string& kernel);
};

/// Reads what `options` name: the lock, else the databases, else the default ones: the user's
/// (default_database_path()) and the one that is installed at the library's prefix. Unless a lock
/// was read or `options` say no, the wisdom inside the library is the last layer. Never fails: a
/// database that cannot be read is a warning.
[[nodiscard]] TunedRows read_databases(const Launcher::Options& options, const DeviceInfo& device);

}  // namespace kiln
