// Files that are part of the program: preludes, built-in kernels, the toolbox
// (cmake/KilnEmbed.cmake).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/embedded_file.hpp"

namespace kiln {

/// All of them, sorted by path.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

[[nodiscard]] std::optional<std::string_view> embedded_file(std::string_view path);

}  // namespace kiln
