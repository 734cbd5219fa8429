// Texts that commands write as whole files, and the kinds of files that several commands read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/input_file.hpp"

namespace kiln::cli {

inline constexpr FileKind kPlanFile = {"a plan file (docs/cli.md shows one)", kMiB};
inline constexpr FileKind kSourceFile = {"a source with kernels", kMiB};
inline constexpr FileKind kLockFile = {"a lock as `kiln db lock` writes it", 64 * kMiB};

/// Which files an output may replace.
struct Replacing {
  /// Is in the first 4 KiB of files of this kind that Kiln wrote; empty: there is no such text.
  std::string_view mark = {};
  bool force = false;  ///< any file
};

/// Whether a file that is there begins as one that Kiln wrote.
[[nodiscard]] bool has_mark(const std::filesystem::path& path, std::string_view mark);

/// Replaces `path` by a file with this text, complete or not at all; "-" is stdout, and what is no
/// file (a pipe, /dev/null) is written to. Throws UsageError with the reason when it cannot be
/// written, is a database, or is a file that `replacing` spares.
void write_text_file(const std::filesystem::path& path, std::string_view text,
                     const Replacing& replacing);

}  // namespace kiln::cli
