// The script of fish: one line an option of a command.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/completion/scripts.hpp"
#include "core/shell_word.hpp"
#include "core/version.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kFishFunctions = R"fish(
# Prints the command that the words before the cursor name: "db info".
function __kiln_path
    set -l words (commandline -opc)
    set -e words[1]
    if test (count $words) -gt 0; and test $words[1] = help
        set -e words[1]
    end
    set -l path ''
    for word in $words
        set -l longer (string trim -- "$path $word")
        if contains -- $longer $__kiln_commands
            set path $longer
        end
    end
    echo $path
end

# Is that command this one?
function __kiln_at
    test (__kiln_path) = "$argv"
end

# The same, and not asked for its help.
function __kiln_in
    __kiln_at $argv
    and not contains -- help (commandline -opc)[2]
end

complete -c kiln -f
)fish";

/// The part of a `complete` that says what follows: a value, of which kind.
std::string fish_value(const ArgumentText& argument) {
  if (argument.placeholder == "FILE") return " -r -F";
  if (argument.placeholder == "DIR") return " -x -a '(__fish_complete_directories)'";
  const std::string words = fmt::format("{}", fmt::join(argument.words, " "));
  if (argument.placeholder == "KERNEL")
    return fmt::format(" -x -a '{} (__fish_complete_directories)'", words);
  return words.empty() ? " -x" : fmt::format(" -x -a '{}'", words);
}

std::string fish_option(const CommandText& command, const ArgumentText& option) {
  std::string text = fmt::format("complete -c kiln -n '__kiln_in {}'", command.path);
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    text += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
  }
  if (!option.placeholder.empty()) text += fish_value(option);
  return text + " -d " + shell_quoted(short_summary(option.summary)) + "\n";
}

std::string fish_command(const CommandText& command) {
  std::string text;
  for (const CommandText& each : command.subcommands) {
    text += fmt::format("complete -c kiln -n '__kiln_at {}' -a {} -d {}\n", command.path,
                        last_word(each), shell_quoted(short_summary(each.summary)));
  }
  for (const ArgumentText& option : command.options) text += fish_option(command, option);
  for (const ArgumentText& word : command.unnamed) {
    const std::string value = fish_value(word);
    if (value != " -x")
      text += fmt::format("complete -c kiln -n '__kiln_in {}'{}\n", command.path, value);
  }
  return text;
}

}  // namespace

std::string fish_completion(const CommandText& root) {
  std::string text = fmt::format(
      "# Completion of kiln {} for fish, made by `kiln completion fish`.\n\n"
      "set -g __kiln_commands",
      kVersion);
  for (const CommandText* command : all_commands(root)) {
    if (!command->path.empty()) text += " " + shell_quoted(command->path);
  }
  text += std::string("\n") + kFishFunctions;
  for (const ExtraWord& extra : extra_words()) {
    text += fmt::format("complete -c kiln -n '__kiln_in ' -a {} -d {}\n", extra.name,
                        shell_quoted(extra.summary));
  }
  for (const CommandText* command : all_commands(root)) text += "\n" + fish_command(*command);
  return text;
}

}  // namespace kiln::cli
