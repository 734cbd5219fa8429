// The completion scripts, one file a shell. Each is complete in itself: it starts no kiln.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command_texts.hpp"

namespace kiln::cli {

/// For bash 4.4 or later, with or without the package bash-completion.
[[nodiscard]] std::string bash_completion(const CommandText& root);
/// For zsh's completion system: a file _kiln in a folder of fpath.
[[nodiscard]] std::string zsh_completion(const CommandText& root);
/// For fish 3 or later: a file kiln.fish in a folder of completions.
[[nodiscard]] std::string fish_completion(const CommandText& root);

struct CompletedShell {
  std::string name;  ///< as `kiln completion` takes it
  std::string (*script)(const CommandText& root);
};

/// The shells that have a script, in the order in which texts list them.
[[nodiscard]] const std::vector<CompletedShell>& completed_shells();
[[nodiscard]] std::vector<std::string> completed_shell_names();

}  // namespace kiln::cli
