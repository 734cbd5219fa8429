// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/databases.hpp"

#include "core/errors.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

void read_database(const fs::path& path, TunedRows& rows) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) {
    rows.warnings.push_back({Launcher::Warning::Kind::database_missing,
                             path.string() + ": there is no such database; kernels that no other "
                                             "database knows run with their default configs"});
    return;
  }
  try {
    for (BestRecord& best : Store(path, Store::Mode::read).bests()) {
      rows.by_kernel[best.key.kernel].push_back(std::move(best));
    }
  } catch (const Error& reason) {
    rows.warnings.push_back({Launcher::Warning::Kind::database_unusable, reason.what()});
  }
}

}  // namespace

std::span<const BestRecord> TunedRows::of(const std::string& kernel) const {
  const auto found = by_kernel.find(kernel);
  return found == by_kernel.end() ? std::span<const BestRecord>() : found->second;
}

TunedRows read_databases(const std::vector<std::string>& paths) {
  TunedRows rows;
  if (!paths.empty()) {
    for (const std::string& path : paths) {
      read_database(path, rows);
    }
    return rows;
  }
  read_database(default_database_path(), rows);
  const fs::path shipped = KILN_SHIPPED_DATABASE;
  std::error_code error;
  if (fs::exists(shipped, error)) {
    read_database(shipped, rows);
  }
  return rows;
}

}  // namespace kiln
