// SPDX-License-Identifier: Apache-2.0
#include "backends/cache_trim.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {
namespace {

constexpr std::int64_t kAbandonedSeconds = 3600;

struct Entry {
  std::int64_t used_ns = 0;
  std::uint64_t bytes = 0;
  std::string name;
};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool is_temporary(std::string_view name) { return name.starts_with(".new-"); }

/// The entries of the folder; abandoned temporary files are deleted on the way.
std::vector<Entry> list_entries(int folder) {
  std::vector<Entry> entries;
  // A descriptor of its own: reading moves its place.
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> open(own < 0 ? nullptr : ::fdopendir(own));
  if (open == nullptr) {
    if (own >= 0) ::close(own);
    return entries;
  }
  while (const dirent* item = ::readdir(open.get())) {
    const std::string_view name = item->d_name;
    struct stat facts {};
    if (::fstatat(folder, item->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode)) {
      continue;
    }
    if (is_temporary(name)) {
      if (facts.st_mtim.tv_sec + kAbandonedSeconds < ::time(nullptr)) {
        ::unlinkat(folder, item->d_name, 0);
      }
    } else if (name.ends_with(".bin")) {
      entries.push_back({facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec,
                         static_cast<std::uint64_t>(facts.st_size), item->d_name});
    }
  }
  return entries;
}

}  // namespace

void trim_cache(int folder, std::uint64_t limit) noexcept {
  try {
    std::vector<Entry> entries = list_entries(folder);
    std::uint64_t total = 0;
    for (const Entry& entry : entries) total += entry.bytes;
    if (total <= limit) return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used_ns < b.used_ns; });
    for (const Entry& entry : entries) {
      if (total <= limit) return;
      ::unlinkat(folder, entry.name.c_str(), 0);
      total -= entry.bytes;
    }
  } catch (const std::exception&) {  // no memory for the list: the next one who stores trims
  }
}

}  // namespace kiln
