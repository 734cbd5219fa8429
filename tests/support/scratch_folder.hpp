// Folders for the files of a test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/scratch_folder.hpp"

namespace kiln::test {

/// A fresh folder, removed with everything in it at the end, also when the test made it read-only.
class ScratchFolder : public kiln::ScratchFolder {
 public:
  using kiln::ScratchFolder::ScratchFolder;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all, ignored);
  }
  [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const {
    return path() / name;
  }
};

/// One in memory where the machine has such: a sync costs nothing there.
struct MemoryFolder : ScratchFolder {
  MemoryFolder()
      : ScratchFolder(std::filesystem::is_directory("/dev/shm")
                          ? std::filesystem::path("/dev/shm")
                          : std::filesystem::temp_directory_path()) {}
};

}  // namespace kiln::test
