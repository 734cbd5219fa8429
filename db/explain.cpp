// SPDX-License-Identifier: Apache-2.0
#include "db/explain.hpp"

#include <sys/resource.h>

#include <SQLiteCpp/Exception.h>

namespace kiln {

namespace {

// Of sqlite3.h, as the others.
constexpr int kBusy = 5;
constexpr int kInputOutput = 10;
constexpr int kFull = 13;
constexpr int kWriteFailed = kInputOutput | (3 << 8);
constexpr int kSharedSizeFailed = kInputOutput | (19 << 8);

/// A disk has room, but the file has reached the length that `ulimit -f` allows.
bool is_size_limit(const SQLite::Exception& error) {
  struct rlimit limit {};
  const int code = error.getExtendedErrorCode();
  return (code == kWriteFailed || code == kSharedSizeFailed) &&
         ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

bool is_locked(const SQLite::Exception& error) { return error.getErrorCode() == kBusy; }

bool is_full_disk(const SQLite::Exception& error) { return error.getErrorCode() == kFull; }

std::string explain(const SQLite::Exception& error) {
  // Primary result codes of sqlite3.h.
  constexpr int kReadOnly = 8;
  constexpr int kInterrupt = 9;
  constexpr int kCorrupt = 11;
  constexpr int kCannotOpen = 14;
  constexpr int kNotADatabase = 26;
  const std::string said = error.what();
  switch (error.getErrorCode()) {
    case kBusy:
      return std::string(kLocked) + kAfterLocked;
    case kReadOnly:
      return "cannot be written (" + said +
             "); mend its permissions or name another file with --db";
    case kInterrupt:
      return "is damaged (its pages lead in circles); `sqlite3 FILE .recover` saves what can be "
             "read; name another file with --db";
    case kInputOutput:
      if (is_size_limit(error)) {
        return "may not grow further (the limit of a file's size, `ulimit -f`); what was stored "
               "before is kept; raise the limit, then run the same command again";
      }
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
