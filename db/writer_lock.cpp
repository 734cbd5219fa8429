// SPDX-License-Identifier: Apache-2.0
#include "db/writer_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/errors.hpp"

namespace kiln {
namespace {

std::string read_holder(int file) {
  std::array<char, 256> text{};
  const ssize_t length = ::pread(file, text.data(), text.size() - 1, 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length))
                    : "another process";
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

WriterLock::WriterLock(const std::filesystem::path& database)
    : path_(database.string() + ".writer") {
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file_ < 0) {
      throw DatabaseError(database.string() + ": cannot create the writer's lock " +
                          path_.string() + ": " + std::strerror(errno));
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const std::string holder = read_holder(file_);
      ::close(file_);
      throw DatabaseError(database.string() + ": is being written by " + holder +
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
  ::unlink(path_.c_str());
  ::close(file_);
}

bool is_network_file_system(const std::filesystem::path& path) {
  // Magic numbers from statfs(2): NFS, SMB, CIFS, SMB2, Lustre, GPFS, BeeGFS, AFS, Coda, Ceph, 9p,
  // FUSE.
  constexpr std::array<std::uint32_t, 12> kNetwork = {
      0x6969,     0x517B,     0xFF534D42, 0xFE534D42, 0x0BD00BD0, 0x47504653,
      0x19830326, 0x5346414F, 0x73757245, 0x00C36400, 0x01021997, 0x65735546};
  struct statfs facts {};
  if (::statfs(path.c_str(), &facts) != 0) {
    return false;
  }
  return std::find(kNetwork.begin(), kNetwork.end(), static_cast<std::uint32_t>(facts.f_type)) !=
         kNetwork.end();
}

}  // namespace kiln
