// SPDX-License-Identifier: Apache-2.0
#include "db/native_sqlite.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <system_error>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace kiln {
namespace {

// A row of ours takes 100 bytes or more and a few hundred steps of SQLite's machine to be read,
// checked and sorted. Steps that load a page cost most: at 10 ns to 1 us each this is well below a
// second for files of a megabyte.
constexpr std::int64_t kFreeSteps = 200'000;
constexpr std::int64_t kStepsPerByte = 10;
constexpr std::int64_t kLeastLength = 1'000'000;

int stop(void* /*unused*/) { return 1; }

}  // namespace

void distrust(SQLite::Database& database) {
  sqlite3* handle = database.getHandle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  database.exec("PRAGMA cell_size_check = ON");
}

void limit_work(SQLite::Database& database, const std::filesystem::path& path) {
  sqlite3* handle = database.getHandle();
  std::int64_t known = 0;  // bytes of the file, and of its WAL, which may be much larger
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path.string() + suffix, error);
    if (!error) known += static_cast<std::int64_t>(bytes);
  }
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::clamp(known, kLeastLength, std::int64_t{INT_MAX})));
  const std::int64_t steps = kFreeSteps + kStepsPerByte * known;
  sqlite3_progress_handler(handle, static_cast<int>(std::min<std::int64_t>(steps, INT_MAX)), stop,
                           nullptr);
}

bool header_asks_for_wal(SQLite::Database& database) {
  sqlite3_file* file = nullptr;
  std::array<char, 20> head{};
  return sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) ==
             SQLITE_OK &&
         file != nullptr && file->pMethods != nullptr &&
         file->pMethods->xRead(file, head.data(), static_cast<int>(head.size()), 0) == SQLITE_OK &&
         head[18] == 2;
}

bool has_moved(SQLite::Database& database) {
  int moved = 0;
  return sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
             SQLITE_OK &&
         moved != 0;
}

}  // namespace kiln
