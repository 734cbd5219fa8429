// SPDX-License-Identifier: Apache-2.0
#include "tuner/workers/hip_root.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kLoader = "ld-linux-x86-64.so.2";
constexpr std::string_view kHip = "libamdhip64.so.";

/// Folders in which the libraries may lie, the nearest first.
std::vector<fs::path> library_folders(const fs::path& folder) {
  std::vector<fs::path> folders = {folder};
  std::error_code ignored;
  for (const char* parent : {"usr/lib", "lib"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / parent, ignored)) {
      if (entry.is_directory(ignored)) folders.push_back(entry.path());
    }
  }
  return folders;
}

/// N of "libamdhip64.so.N"; 0: another file.
int hip_version_of(std::string_view name) {
  if (!name.starts_with(kHip)) return 0;
  name.remove_prefix(kHip.size());
  int version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  return error == std::errc() && end == name.data() + name.size() ? version : 0;
}

fs::path newest_hip(const fs::path& folder) {
  fs::path newest;
  int newest_version = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const int version = hip_version_of(entry.path().filename().string());
    if (version <= newest_version) continue;
    newest_version = version;
    newest = entry.path();
  }
  return newest;
}

std::optional<HipRoot> root_at(const fs::path& libraries) {
  std::error_code ignored;
  HipRoot root{libraries, libraries / kLoader, newest_hip(libraries)};
  if (root.hip.empty() || !fs::exists(root.loader, ignored)) return std::nullopt;
  return root;
}

}  // namespace

HipRoot find_hip_root(const fs::path& folder) {
  for (const fs::path& libraries : library_folders(folder)) {
    if (std::optional<HipRoot> root = root_at(libraries)) return *root;
  }
  throw UsageError(
      fmt::format("KILN_HIP_ROOT is '{}': expected a folder that holds {} and {}N, or has them in "
                  "usr/lib/TRIPLE (scripts/install_dependencies makes one)",
                  folder.string(), kLoader, kHip));
}

void start_in(const HipRoot& root, ChildCommand& command) {
  // In the loader's process /proc/self/exe is the loader; this process lives as long as its
  // workers.
  const std::string program = command.program == "/proc/self/exe"
                                  ? fmt::format("/proc/{}/exe", ::getpid())
                                  : command.program;
  std::vector<std::string> arguments = {"--library-path", root.libraries.string(), program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  command.program = root.loader.string();
  command.arguments = std::move(arguments);
  const char* library = std::getenv("KILN_HIP_LIBRARY");
  if (library == nullptr || *library == '\0')
    command.environment["KILN_HIP_LIBRARY"] = root.hip.string();
}

}  // namespace kiln
