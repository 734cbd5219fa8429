// What may stand at the end of a command line: the answers of `kiln __complete`, which the
// completion scripts of the shells call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command_texts.hpp"

namespace kiln::cli {

/// The first word of a command line that asks for proposals. It never reaches the parser, which
/// would take the words after it for its own.
inline constexpr const char* kCompleteWord = "__complete";

struct Proposals {
  struct Word {
    std::string text;
    std::string summary;  ///< one line; may be empty
    bool operator==(const Word&) const = default;
  };
  std::vector<Word> words;
  bool files = false;    ///< file names as well
  bool folders = false;  ///< folder names as well
};

/// What may replace the last of `words`, which stand after `kiln`. `--option=value` is one word;
/// its proposals are values alone. The caller drops the words that do not begin as the last one
/// does.
[[nodiscard]] Proposals proposals_for(const CommandText& root,
                                      const std::vector<std::string>& words);

/// Prints the proposals for `words`, one a line, as the scripts read them.
void print_proposals(const CLI::App& app, const std::vector<std::string>& words);

/// The shells that have a script, in the order in which texts list them.
[[nodiscard]] std::vector<std::string> completed_shells();

}  // namespace kiln::cli
