// KILN_HIP_ROOT: a HIP that is not installed but unpacked into a folder, down to libc and its
// loader (scripts/install_dependencies makes one).
//
// Such libraries may need a newer libc than the machine has, so a process cannot just open them: a
// HIP worker is started by the loader in that folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "tuner/workers/child_process.hpp"

namespace kiln {

struct HipRoot {
  std::filesystem::path libraries;  ///< the folder of all its libraries
  std::filesystem::path loader;
  std::filesystem::path hip;  ///< the newest libamdhip64.so.N
};

/// What KILN_HIP_ROOT names: the folder of the libraries, or one with usr/lib/TRIPLE or lib/TRIPLE.
/// Throws UsageError where it holds no loader or no HIP.
[[nodiscard]] HipRoot find_hip_root(const std::filesystem::path& folder);

/// Makes `command` run its program with the loader, the libraries and the HIP of `root`. What the
/// environment says of KILN_HIP_LIBRARY stays.
void start_in(const HipRoot& root, ChildCommand& command);

}  // namespace kiln
