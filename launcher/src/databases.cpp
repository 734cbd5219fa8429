// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/databases.hpp"

#include "core/errors.hpp"
#include "db/shipped.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// `layer` counts the databases: 0 is asked first.
void read_database(const fs::path& path, int layer, TunedRows& rows) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) {
    rows.warnings.push_back({Launcher::Warning::Kind::database_missing,
                             path.string() + ": there is no such database; kernels that no other "
                                             "database knows run with their default configs"});
    return;
  }
  try {
    for (BestRecord& best : Store(path, Store::Mode::read).bests()) {
      best.layer = layer;
      rows.by_kernel[best.key.kernel].push_back(std::move(best));
    }
  } catch (const Error& reason) {
    rows.warnings.push_back({Launcher::Warning::Kind::database_unusable, reason.what()});
  }
}

}  // namespace

std::span<const BestRecord> TunedRows::of(const std::string& kernel) {
  std::vector<BestRecord>& rows = by_kernel[kernel];
  if (asks_shipped && with_shipped.insert(kernel).second) {
    for (BestRecord& best : shipped_bests(kernel)) rows.push_back(std::move(best));
  }
  return rows;
}

TunedRows read_databases(const std::vector<std::string>& paths) {
  TunedRows rows;
  if (!paths.empty()) {
    int layer = 0;
    for (const std::string& path : paths) read_database(path, layer++, rows);
    return rows;
  }
  read_database(default_database_path(), 0, rows);
  const fs::path site = KILN_SHIPPED_DATABASE;
  std::error_code error;
  if (fs::exists(site, error)) {
    read_database(site, 1, rows);
  }
  rows.asks_shipped = true;
  return rows;
}

}  // namespace kiln
