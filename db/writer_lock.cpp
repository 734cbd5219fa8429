// SPDX-License-Identifier: Apache-2.0
#include "db/writer_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "core/errors.hpp"

namespace kiln {
namespace {

// The holder writes its name just after it took the lock: an empty file is asked again for a while.
std::string read_holder(int file) {
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    std::array<char, 256> text{};
    const ssize_t length = ::pread(file, text.data(), text.size() - 1, 0);
    if (length > 0) {
      return {text.data(), static_cast<std::size_t>(length)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return "another process";
}

// False when another process holds it; `errno` says if that is why. A holder that was killed while
// it started a worker leaves the lock for a moment to that worker, which dies of the same kill: it
// is asked again for a while.
bool take_lock(int file) {
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  errno = EWOULDBLOCK;
  return false;
}

// One lock for one file: the name that links lead to. A missing file is named by its folder.
std::filesystem::path lock_path(const std::filesystem::path& database) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(database, error);
  return (error ? database : real).string() + ".writer";
}

std::string describe_self() {
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

// The holder removes its file when it ends; a file opened before that is a lock on nothing.
bool still_at(const std::filesystem::path& path, int file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& database) : path_(lock_path(database)) {
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file_ < 0) {
      throw DatabaseError(database.string() + ": cannot create the writer's lock " +
                          path_.string() + ": " + std::strerror(errno));
    }
    if (!take_lock(file_)) {
      if (const int reason = errno; reason != EWOULDBLOCK) {
        ::close(file_);
        throw DatabaseError(database.string() + ": its writer's lock " + path_.string() +
                            " cannot be taken: " + std::strerror(reason) +
                            "; name a file on another file system with --db");
      }
      const std::string holder = read_holder(file_);
      ::close(file_);
      throw DatabaseBusyError(database.string() + ": is being written by " + holder +
                              "; wait for it to end, or use another file with --db");
    }
    if (still_at(path_, file_)) {
      break;
    }
    ::close(file_);
  }
  const std::string self = describe_self();
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, self.data(), self.size(), 0) < 0) {
    // The name in the file is a courtesy; the lock itself holds.
  }
}

WriterLock::~WriterLock() {
  if (still_at(path_, file_)) ::unlink(path_.c_str());  // else it is of another writer
  ::close(file_);
}

}  // namespace kiln
