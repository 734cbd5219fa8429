// SPDX-License-Identifier: Apache-2.0
#include "launcher/src/databases.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/errors.hpp"
#include "core/input_file.hpp"
#include "db/database_place.hpp"
#include "db/server/server_place.hpp"
#include "wisdom/selection_lock.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// `layer` counts the databases: 0 is asked first.
void read_database(const fs::path& path, int layer, TunedRows& rows) {
  if (!may_exist(path)) {
    rows.warnings.push_back({Launcher::Warning::Kind::database_missing,
                             path.string() + ": there is no such database; kernels that no other "
                                             "layer knows run with their default configs"});
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

std::string lock_of(const Launcher::Options& options) {
  const char* environment = std::getenv("KILN_LOCK");
  return !options.lock.empty() || environment == nullptr ? options.lock : environment;
}

// False: the lock cannot be used, and a warning says why.
bool read_lock(const std::string& path, const DeviceInfo& device, TunedRows& rows) {
  using Kind = Launcher::Warning::Kind;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    rows.warnings.push_back(
        {Kind::lock_unusable,
         path + ": there is no such lock" +
             "; the databases are used instead, and ranks may choose different configs"});
    return false;
  }
  try {
    const std::string text = read_input(path, {"a lock", 64 * kMiB});
    bool knows_device = false;
    for (BestRecord& best : read_selection_lock(text, path)) {
      knows_device = knows_device || best.key.device == identity_of(device);
      rows.by_kernel[best.key.kernel].push_back(std::move(best));
    }
    if (!knows_device) {
      rows.warnings.push_back(
          {Kind::lock_unfit, path + ": was made for other devices than " + identity_of(device)});
    }
    return true;
  } catch (const Error& reason) {
    rows.warnings.push_back(
        {Kind::lock_unusable,
         std::string(reason.what()) +
             "; the databases are used instead, and ranks may choose different configs"});
    return false;
  }
}

}  // namespace

std::vector<BestRecord> TunedRows::take(const std::string& kernel) {
  return std::exchange(by_kernel[kernel], {});
}

TunedRows read_databases(const Launcher::Options& options, const DeviceInfo& device) {
  TunedRows rows;
  if (const std::string lock = lock_of(options); !lock.empty()) {
    rows.locked = read_lock(lock, device, rows);
    if (rows.locked) return rows;
  }
  rows.asks_shipped = options.use_shipped;
  if (!options.databases.empty()) {
    int layer = 0;
    for (const std::string& path : options.databases) read_database(path, layer++, rows);
    return rows;
  }
  if (const fs::path own = default_database_path(); !own.empty()) {
    read_database(own, 0, rows);
  } else {
    rows.warnings.push_back({Launcher::Warning::Kind::database_missing,
                             std::string(kNoDatabasePlace) +
                                 "; kernels that no other layer knows run with their default "
                                 "configs"});
  }
  const fs::path site = KILN_SHIPPED_DATABASE;
  std::error_code error;
  if (fs::exists(site, error)) {
    read_database(site, 1, rows);
  }
  return rows;
}

}  // namespace kiln
