// Makes the workers' scratch folders, removes those left behind, and writes their command lines.
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/worker_host.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/transient_error.hpp"
#include "tuner/workers/hip_root.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "kiln-worker-";
// In a scratch folder, locked as long as its supervisor lives. A process number says nothing about
// processes of another host, or of another container, that share the folder for temporary files.
constexpr const char* kOwnerLock = "owner";
constexpr auto kOldest = std::chrono::hours(24);  // of a folder that is just being made

// A compiler asks for a hundred megabytes and gives them back, source after source. Let glibc keep
// them, in large pages where the system has them: page faults are 2% to 10% of NVRTC's time.
constexpr const char* kTunables = "GLIBC_TUNABLES";
constexpr const char* kKeepMemory =
    "glibc.malloc.trim_threshold=268435456:glibc.malloc.top_pad=67108864:"
    "glibc.malloc.mmap_threshold=67108864:glibc.malloc.hugetlb=1";

/// The descriptor of the lock of `folder`, which the caller then holds; -1: somebody else does, or
/// it has none yet.
int take_owner_lock(const fs::path& folder, int more_flags) {
  const fs::path path = folder / kOwnerLock;
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | more_flags, 0600);
  if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) ::close(file);
  return -1;
}

bool is_ours(const fs::path& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

bool is_old(const fs::path& folder) {
  std::error_code error;
  const auto changed = fs::last_write_time(folder, error);
  return !error && fs::file_time_type::clock::now() - changed > kOldest;
}

void remove_left_behind(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const fs::path& folder = entry.path();
    if (!folder.filename().string().starts_with(kPrefix) || !is_ours(folder)) continue;
    const int lock = take_owner_lock(folder, 0);
    const bool has_lock = fs::exists(folder / kOwnerLock, ignored);
    if (lock >= 0 || (!has_lock && is_old(folder))) fs::remove_all(folder, ignored);
    if (lock >= 0) ::close(lock);
  }
}

constexpr rlim_t kLeastFile = rlim_t{4} << 20;  // bytes that one kernel may take

/// What compilers and drivers need of the limits of a shell; with less they fail in ways of their
/// own.
struct ShellLimit {
  decltype(RLIMIT_AS) resource;
  rlim_t enough;
  rlim_t unit;
  const char* text;
};

constexpr ShellLimit kLimits[] = {
    {RLIMIT_AS, rlim_t{4} << 30, 1 << 20, "memory to {} MiB (`ulimit -v`)"},
    {RLIMIT_DATA, rlim_t{1} << 30, 1 << 20, "data to {} MiB (`ulimit -d`)"},
    {RLIMIT_FSIZE, kLeastFile, 1 << 10, "the size of a file to {} KiB (`ulimit -f`)"},
    {RLIMIT_NOFILE, 32, 1, "open files to {} (`ulimit -n`)"}};

/// "this shell limits ...", with those limits that are too tight; empty if none is.
std::string tight_limits() {
  std::string found;
  for (const ShellLimit& limit : kLimits) {
    struct rlimit now {};
    if (::getrlimit(limit.resource, &now) != 0 || now.rlim_cur >= limit.enough) continue;
    found += found.empty() ? "this shell limits " : " and ";
    found += fmt::format(fmt::runtime(limit.text), now.rlim_cur / limit.unit);
  }
  if (!found.empty()) found += ", in which compilers and drivers may not run: raise the limit";
  return found;
}

TransientError no_room(const fs::path& folder) {
  return {ExitCode::failed,
          fmt::format("there is no room for temporary files in {}", folder.string()),
          "; what was measured is stored, and the same command goes on from there when there is"};
}

}  // namespace

WorkerHost::WorkerHost(fs::path program)
    : program_(program.empty() ? "/proc/self/exe" : std::move(program)) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* asked = std::getenv("TMPDIR");
    throw UsageError(fmt::format("TMPDIR is '{}': it must be a folder that is there",
                                 asked != nullptr ? asked : "/tmp"));
  }
  remove_left_behind(parent);
  // Another program may find the folder before it is locked, and take it for one left behind.
  do {
    std::string name = (parent / kPrefix).string() + std::to_string(::getpid()) + "-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      if (errno == ENOSPC) throw no_room(parent);
      throw Error(ExitCode::failed,
                  "cannot make a scratch folder " + name + ": " + std::strerror(errno));
    }
    scratch_ = name;
    if (owner_ >= 0) ::close(owner_);
    owner_ =
        take_owner_lock(scratch_, O_CREAT);  // -1 without locks: then nobody can take it either
  } while (!fs::exists(scratch_, error));
}

WorkerHost::~WorkerHost() {
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
  if (owner_ >= 0) ::close(owner_);
}

void WorkerHost::require_room(std::string_view backend) const {
  if (backend == "cuda") return;  // NVRTC and the driver work in memory
  struct rlimit file {};
  if (::getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur < kLeastFile)
    throw Error(ExitCode::failed, tight_limits());
  struct statvfs room {};
  if (::statvfs(scratch_.c_str(), &room) != 0) return;
  const bool has_files = room.f_files == 0 || room.f_favail > 0;  // some systems count none
  if (!has_files || std::uintmax_t{room.f_bavail} * room.f_frsize < kLeastFile)
    throw no_room(scratch_.parent_path());
}

std::string WorkerHost::lack_of_system(const std::string& obituary) {
  if (obituary.find("Executable \"ld\" doesn't exist") != std::string::npos) {
    const char* path = std::getenv("PATH");
    return fmt::format(
        "OpenCL on this CPU needs the linker 'ld', and no folder of PATH has it "
        "(PATH is {}): install binutils or mend PATH",
        path != nullptr ? "'" + std::string(path) + "'" : "not set");
  }
  const std::string limits = tight_limits();
  return limits.empty() ? "" : obituary.substr(0, obituary.find('\n')) + "; " + limits;
}

void WorkerHost::require_system(const std::string& obituary) {
  if (const std::string lack = lack_of_system(obituary); !lack.empty())
    throw Error(ExitCode::failed, lack);
}

ChildCommand WorkerHost::command(const WorkerOptions& options) {
  // PoCL's kernel cache falsifies compile times, and two workers must not write to one. Compile
  // workers keep nothing, or it would grow all session long. Device workers come one after the
  // other: a replacement finds the checks' own kernels compiled.
  const std::string name =
      options.kind == WorkerKind::device ? "device" : std::to_string(started_++);
  const fs::path cache = scratch_ / name;
  std::error_code ignored;
  fs::create_directory(cache, ignored);
  ChildCommand command{program_.string(),
                       to_arguments(options),
                       {{"POCL_CACHE_DIR", cache.string()}, {kBuildsVariable, scratch_.string()}}};
  if (options.kind == WorkerKind::compile) {
    command.environment.emplace("POCL_KERNEL_CACHE", "0");
    if (::getenv(kTunables) == nullptr) command.environment.emplace(kTunables, kKeepMemory);
  }
  const char* hip_root = std::getenv("KILN_HIP_ROOT");
  if (options.backend == "hip" && hip_root != nullptr && *hip_root != '\0')
    start_in(find_hip_root(hip_root), command);
  return command;
}

}  // namespace kiln
