// The commands as plain texts, read out of the parser: the one source of completions and man pages.
//
// Takes for granted that the placeholder of a value says what may stand there: KERNEL, STRATEGY,
// FILE, DIR and so on (known_words() in the .cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/parser_fwd.hpp"

namespace kiln::cli {

/// An option, or a word that stands without a name.
struct ArgumentText {
  std::vector<std::string> names;  ///< "-h", "--help"; without a name: "kernel"
  std::string placeholder;         ///< what stands for the value, "FILE"; empty: a flag
  std::vector<std::string> words;  ///< values to propose; empty: none are known
  std::string fallback;            ///< the value that counts when none is given; may be empty
  std::string summary;             ///< as the help prints it, with line breaks
  std::string group;               ///< the heading of the help that it stands under
  bool required = false;
  bool repeats = false;

  bool operator==(const ArgumentText&) const = default;
};

struct CommandText {
  std::string path;  ///< the words that call it, without `kiln`: "db info"; empty: kiln itself
  std::string summary;
  std::string footer;                    ///< rules and examples, as the help prints them
  std::vector<ArgumentText> unnamed;     ///< in their order
  std::vector<ArgumentText> options;     ///< in the order of the help
  std::vector<CommandText> subcommands;  ///< those that the help lists

  bool operator==(const CommandText&) const = default;
};

/// A word that may stand for a command right after `kiln`, though the parser knows none of that
/// name: main() replaces it by an option.
struct ExtraWord {
  std::string name;
  std::string summary;
};
[[nodiscard]] const std::vector<ExtraWord>& extra_words();

/// What `app` and the commands below it take. Hidden commands are left out.
[[nodiscard]] CommandText command_texts(const CLI::App& app);

/// `root` and every command below it, each before its subcommands.
[[nodiscard]] std::vector<const CommandText*> all_commands(const CommandText& root);

/// The last word of the path: "info"; empty for kiln itself.
[[nodiscard]] std::string last_word(const CommandText& command);

/// The summary in one line of at most 100 columns; a list that it ends with is left out.
[[nodiscard]] std::string short_summary(const std::string& summary);

}  // namespace kiln::cli
