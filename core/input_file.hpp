// The one way to read a file that somebody names. It may be any file: a pipe without a writer, a
// device without an end, something that grows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kiln {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A kind of file that Kiln reads.
struct FileKind {
  std::string_view what;          ///< "a plan file", in messages
  std::size_t most_bytes = kMiB;  ///< larger files are refused
};

/// Returns an open descriptor of a regular file, which the caller closes. Throws InputError for
/// anything else, at once, also for files of /proc and /sys, which have no length.
[[nodiscard]] int open_input(const std::filesystem::path& path, const FileKind& kind);

/// Whether `path` is a regular file that lies on a disk: no pipe, and none of /proc or /sys, where
/// the first read may wait for ever. Reads nothing of it.
[[nodiscard]] bool is_stored_file(const std::filesystem::path& path);

/// The bytes of a regular file, at most `kind.most_bytes`. Throws InputError "PATH: ...; expected
/// WHAT".
[[nodiscard]] std::string read_input(const std::filesystem::path& path, const FileKind& kind);

/// "1 MiB", "2 GiB" or "1234 bytes".
[[nodiscard]] std::string byte_limit_text(std::uint64_t bytes);

}  // namespace kiln
