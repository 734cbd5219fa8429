// Files that are part of the program: preludes, built-in kernels, the toolbox
// (cmake/KilnEmbed.cmake).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace kiln {

struct EmbeddedFile {
  std::string_view path;  ///< e.g. "kernels/reduce/spec.toml", "dialects/cuda.h"
  std::string_view text;
};

/// All of them, sorted by path.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

[[nodiscard]] std::optional<std::string_view> embedded_file(std::string_view path);

}  // namespace kiln
