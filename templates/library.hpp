// KernelLibrary: where kernels come from: the user's folders first, then those built into the
// program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/spec.hpp"

namespace kiln {

class KernelLibrary {
 public:
  /// Each path is a kernel's folder (it holds spec.toml) or a folder of such folders. Throws
  /// InputError for one that is not there.
  explicit KernelLibrary(std::vector<std::filesystem::path> kernel_paths = {});

  /// Names of all kernels that load() knows, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Reads a kernel by the name of its folder, by the name that its spec states, by the path of its
  /// folder, or by the path of its spec.toml: parsed, and `files` filled with the folder's *.inja
  /// and the plain sources that variants name, with the headers below the folder.
  /// Throws InputError: unknown name (lists the names and where was looked), unreadable or
  /// malformed files, links that lead out of the folder.
  [[nodiscard]] KernelSpec load(const std::string& name_or_path) const;

  /// A kernel from the text of a spec, which need not be in a file: `path` is for messages, and the
  /// folder of `path` holds what the spec names.
  [[nodiscard]] static KernelSpec load_text(const std::string& text,
                                            const std::filesystem::path& path);

  /// The spec of Kiln's own device kernels (templates/toolbox): fills, comparison, checksums.
  [[nodiscard]] static KernelSpec load_toolbox();

  /// The spec of the kernels that measure a device's limits (templates/ceilings).
  [[nodiscard]] static KernelSpec load_ceilings();

 private:
  std::vector<std::filesystem::path> folders_;  // folders that hold a spec.toml, in order of search
  std::vector<std::filesystem::path> searched_;
};

}  // namespace kiln
