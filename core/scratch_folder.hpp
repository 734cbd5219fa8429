// ScratchFolder: a fresh folder for files that nobody needs afterwards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kiln {

/// Makes a fresh folder inside `parent`, which must exist. Throws Error if it cannot. The caller
/// removes it.
[[nodiscard]] std::filesystem::path make_folder(const std::filesystem::path& parent);

/// A fresh folder inside `parent`, removed with everything in it at the end of the scope.
class ScratchFolder {
 public:
  /// Throws as make_folder().
  explicit ScratchFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kiln
