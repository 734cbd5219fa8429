// Texts that commands read and write as whole files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kiln::cli {

/// The bytes of `path`. Throws InputError "PATH: cannot be read; expected WHAT".
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path, std::string_view what);

/// Replaces `path` by a file with this text, complete or not at all; "-" is stdout, and what is no
/// file (a pipe, /dev/null) is written to. Throws UsageError with the reason when it cannot be
/// written, or is a database.
void write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace kiln::cli
