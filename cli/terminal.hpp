// What is known of the terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace kiln::cli {

/// Columns of the terminal behind a file descriptor; nullopt: it is none (a file, a pipe).
[[nodiscard]] std::optional<std::size_t> terminal_width(int file);

}  // namespace kiln::cli
