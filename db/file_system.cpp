// SPDX-License-Identifier: Apache-2.0
#include "db/file_system.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "core/input_file.hpp"

namespace kiln {
namespace {

std::optional<std::uint32_t> pretended_type;

}  // namespace

bool is_network_file_system(std::uint32_t type) {
  // NFS, SMB, CIFS, SMB2, Lustre, GPFS, BeeGFS, AFS, Coda, Ceph, 9p, FUSE, OCFS2, GFS2, VirtualBox.
  constexpr std::array<std::uint32_t, 15> kNetwork = {
      0x6969,     0x517B,     0xFF534D42, 0xFE534D42, 0x0BD00BD0,
      0x47504653, 0x19830326, 0x5346414F, 0x73757245, 0x00C36400,
      0x01021997, 0x65735546, 0x7461636F, 0x01161970, 0x786F4256};
  return std::find(kNetwork.begin(), kNetwork.end(), type) != kNetwork.end();
}

bool is_network_file_system(const std::filesystem::path& path) {
  if (pretended_type) {
    return is_network_file_system(*pretended_type);
  }
  struct statfs facts {};
  return ::statfs(path.c_str(), &facts) == 0 &&
         is_network_file_system(static_cast<std::uint32_t>(facts.f_type));
}

void pretend_file_system(std::optional<std::uint32_t> type) { pretended_type = type; }

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::filesystem::path linked_file(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as the system follows
  std::filesystem::path file = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(file, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / next;  // an absolute one stands alone
  }
  return file;
}

bool is_sqlite_file(const std::filesystem::path& path) {
  constexpr std::string_view kMark("SQLite format 3\0", 16);
  std::array<char, kMark.size()> head{};
  if (!is_stored_file(path)) return false;  // a pipe would be waited for
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return std::string_view(head.data(), static_cast<std::size_t>(file.gcount())) == kMark;
}

bool sync_to_disk(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool synced = ::fsync(file) == 0;
  const int reason = errno;
  ::close(file);
  errno = reason;
  return synced;
}

}  // namespace kiln
