// SPDX-License-Identifier: Apache-2.0
#include "db/explain.hpp"

#include <SQLiteCpp/Exception.h>

namespace kiln {

namespace {

constexpr int kFull = 13;  // of sqlite3.h, as the others

}  // namespace

bool is_full_disk(const SQLite::Exception& error) { return error.getErrorCode() == kFull; }

std::string explain(const SQLite::Exception& error) {
  // Primary result codes of sqlite3.h.
  constexpr int kBusy = 5;
  constexpr int kReadOnly = 8;
  constexpr int kInterrupt = 9;
  constexpr int kInputOutput = 10;
  constexpr int kCorrupt = 11;
  constexpr int kCannotOpen = 14;
  constexpr int kNotADatabase = 26;
  const std::string said = error.what();
  switch (error.getErrorCode()) {
    case kBusy:
      return "is locked by another program; try again when that has ended";
    case kReadOnly:
      return "cannot be written (" + said +
             "); mend its permissions or name another file with --db";
    case kInterrupt:
      return "is damaged (its pages lead in circles); `sqlite3 FILE .recover` saves what can be "
             "read; "
             "name another file with --db";
    case kInputOutput:
      return "cannot be read or written (" + said +
             "); what was stored before is kept; see to the disk, then run the same command again";
    case kCorrupt:
      return "is damaged (" + said +
             "); `sqlite3 FILE .recover` saves what can be read; name another file with --db";
    case kFull:
      return std::string(kFullDisk) + kAfterFullDisk;
    case kCannotOpen:
      return "cannot be opened (" + said +
             "); see to its permissions or name another file with --db";
    case kNotADatabase:
      return "is no database, or damaged from its first bytes on; name another file with --db";
    default:
      return said;
  }
}

}  // namespace kiln
