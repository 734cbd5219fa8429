// The rows of the tuning databases. A launcher reads them once, when it opens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kiln/launcher.hpp>

#include "db/store.hpp"

namespace kiln {

/// The bests of several databases by kernel. Rows of a database that was named earlier come first.
struct TunedRows {
  std::map<std::string, std::vector<BestRecord>, std::less<>> by_kernel;
  std::vector<Launcher::Warning> warnings;  ///< one per database that is missing or unusable

  bool locked = false;        ///< a lock was read instead of databases
  bool asks_shipped = false;  ///< the shipped rows are the last layer

  /// Returns the rows of a kernel and removes them. The shipped rows are not among them.
  [[nodiscard]] std::vector<BestRecord> take(const std::string& kernel);
};

/// Reads the lock of `options`, else its databases, else the default ones: the user's
/// (default_database_path()) and the one installed at the library's prefix. The shipped rows inside
/// the library are the last layer, unless a lock was read or `options` exclude them. Never fails:
/// an unreadable database becomes a warning.
[[nodiscard]] TunedRows read_databases(const Launcher::Options& options, const DeviceInfo& device);

}  // namespace kiln
