// What is wrong with a command line, in a sentence that says where to read on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/parser_fwd.hpp"

namespace kiln::cli {

/// The command of this name below `app`; nullptr: there is none.
[[nodiscard]] const CLI::App* find_command(const CLI::App& app, const std::string& name);

/// Names the words that the parser of `app` left over, in the order of the command line. CLI11's
/// own message lists them backwards.
[[nodiscard]] std::string unexpected_words(const CLI::App& app);

/// `words`: the command line without the program's name; `fault`: what the parser said of it. A
/// word where a command is expected, or none, is answered with the commands that there are.
[[nodiscard]] std::string usage_fault(const CLI::App& app, const std::vector<std::string>& words,
                                      const std::string& fault);

}  // namespace kiln::cli
