// Runs a program of the user's and keeps what it printed. For worker processes: it blocks, and a
// program that never ends is killed together with its worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kiln {

struct Ended {
  int exit_code = -1;  ///< -1: ended by `signal`
  int signal = 0;
  std::string out;  ///< stdout; at most the last 4 MiB
  std::string err;  ///< the same of stderr

  [[nodiscard]] bool is_ok() const { return exit_code == 0; }
  /// "exit code 3" or "signal 11 (Segmentation fault)".
  [[nodiscard]] std::string ending() const;
};

/// Runs `words`, the first of which is found through PATH, in `folder`, with nothing on stdin. It
/// inherits no descriptor but its own three. A program that cannot be started ends with 127. Throws
/// Error(internal) when the system has no process or pipe for it.
[[nodiscard]] Ended run_program(const std::vector<std::string>& words,
                                const std::filesystem::path& folder);

/// The same for a text for /bin/sh.
[[nodiscard]] Ended run_shell(const std::string& text, const std::filesystem::path& folder);

/// The last lines of `text`, at most `count`, for messages.
[[nodiscard]] std::string last_lines(const std::string& text, std::size_t count);

}  // namespace kiln
