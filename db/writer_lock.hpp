// One writing process per database file.
//
// SQLite allows several writers, but the sessions of two tuners in one file would mix their
// sequences, and SQLite before 3.51.3 can damage a WAL that two processes reset. So a writer holds
// a lock file beside the database. The operating system drops the lock when the process ends,
// however it ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kiln {

/// Holds the lock FILE.writer while it exists. Neither copied nor moved.
class WriterLock {
 public:
  /// Throws DatabaseError, which names the process that holds the lock.
  explicit WriterLock(const std::filesystem::path& database);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace kiln
