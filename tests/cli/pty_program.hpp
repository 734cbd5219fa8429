// Runs the `kiln` program on a terminal of a given size, as a person sees it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "kiln_program.hpp"

namespace kiln::cli {

struct TerminalSize {
  unsigned short columns = 80;
  unsigned short rows = 24;
};

/// What a run wrote on its terminal.
struct TerminalOutput {
  int exit_code = -1;
  std::string raw;  ///< every byte, redrawn lines and colours included

  /// The lines as they stand in the end: a line that was drawn again counts as it was last.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// Every text that stood on a line at some time, redrawn ones included.
  [[nodiscard]] std::vector<std::string> drawn() const;
};

/// Runs in `folder`, with stdin, stdout and stderr on one terminal in UTF-8; `typed` is what its
/// user types.
[[nodiscard]] TerminalOutput run_on_terminal(const std::filesystem::path& folder,
                                             const TerminalSize& size, const Words& words,
                                             const Environment& environment = {},
                                             const std::string& typed = {});

}  // namespace kiln::cli
