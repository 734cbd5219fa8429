// Files that are part of the program: preludes, built-in kernels, the toolbox
// (cmake/KilnEmbed.cmake).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/embedded_file.hpp"

namespace kiln {

/// All of them, sorted by path.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

/// The text of the file with this path; nullopt if there is none.
[[nodiscard]] std::optional<std::string> embedded_file(std::string_view path);

}  // namespace kiln
