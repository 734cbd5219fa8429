// SPDX-License-Identifier: Apache-2.0
#include "core/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

std::string unread_text(int error) {
  return error == ENOENT ? "there is no such file"
                         : fmt::format("cannot be read ({})", std::strerror(error));
}

[[noreturn]] void refuse_input(const std::filesystem::path& path, const FileKind& kind,
                               const std::string& reason) {
  throw InputError({path.string(), 0, 0},
                   kind.what.empty() ? reason : fmt::format("{}; expected {}", reason, kind.what));
}

/// Files there are made while they are read, and may have no end.
bool is_made_by_the_kernel(const struct statfs& facts) {
  constexpr unsigned kProc = 0x9fa0;
  constexpr unsigned kSys = 0x62656572;
  const auto type = static_cast<unsigned>(facts.f_type);
  return type == kProc || type == kSys;
}

}  // namespace

std::string byte_limit_text(std::uint64_t bytes) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  if (bytes >= kGiB && bytes % kGiB == 0) return fmt::format("{} GiB", bytes / kGiB);
  if (bytes >= kMiB && bytes % kMiB == 0) return fmt::format("{} MiB", bytes / kMiB);
  return fmt::format("{} bytes", bytes);
}

int open_input(const std::filesystem::path& path, const FileKind& kind) {
  // Without waiting: a pipe may have no writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) refuse_input(path, kind, unread_text(errno));
  struct stat facts {};
  struct statfs disk {};
  const bool is_known = ::fstat(file, &facts) == 0 && ::fstatfs(file, &disk) == 0;
  std::string fault;
  if (!is_known || !S_ISREG(facts.st_mode)) {
    fault = is_known && S_ISDIR(facts.st_mode) ? "is a folder" : "is no regular file";
  } else if (is_made_by_the_kernel(disk)) {
    fault = "is made by the system while it is read";
  } else if (static_cast<std::uint64_t>(facts.st_size) > kind.most_bytes) {
    fault = fmt::format("holds more than {}, which is the most that is read",
                        byte_limit_text(kind.most_bytes));
  }
  if (fault.empty()) return file;
  ::close(file);
  refuse_input(path, kind, fault);
}

bool is_stored_file(const std::filesystem::path& path) {
  struct stat facts {};
  struct statfs disk {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::statfs(path.c_str(), &disk) == 0 && !is_made_by_the_kernel(disk);
}

std::string read_input(const std::filesystem::path& path, const FileKind& kind) {
  const int file = open_input(path, kind);
  const std::unique_ptr<const int, void (*)(const int*)> closing(
      &file, [](const int* opened) { ::close(*opened); });
  std::string text;
  constexpr std::size_t kBlock = 64 * 1024;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    const ssize_t got = ::read(file, text.data() + before, kBlock);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_input(path, kind, unread_text(errno));
    if (got == 0 && !text.starts_with("SQLite format 3")) return text;
    if (got == 0) refuse_input(path, kind, "is a database");
    if (text.size() > kind.most_bytes) {  // it grew
      refuse_input(path, kind,
                   fmt::format("holds more than {}, which is the most that is read",
                               byte_limit_text(kind.most_bytes)));
    }
  }
}

}  // namespace kiln
