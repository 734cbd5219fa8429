// The HIP that scripts/install_dependencies unpacks (scripts/lib/common.bash: kiln_hip_prefix).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace kiln::test {

/// Its folder; nullopt where it was not fetched.
[[nodiscard]] inline std::optional<std::filesystem::path> private_hip() {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder = data != nullptr && *data != '\0' ? data : "";
  if (folder.empty())
    folder = std::filesystem::path(home != nullptr ? home : "/root") / ".local/share";
  folder /= "kiln/hip6";
  if (!std::filesystem::exists(folder / "complete")) return std::nullopt;
  return folder;
}

}  // namespace kiln::test
