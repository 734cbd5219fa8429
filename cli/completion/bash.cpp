// The script of bash: three tables made of the commands, and one function that looks into them.
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <fmt/format.h>

#include "cli/completion/scripts.hpp"
#include "core/version.hpp"

namespace kiln::cli {
namespace {

constexpr const char* kBashFunction = R"bash(
# Adds to COMPREPLY the words of $1 that begin with $2. A word in capitals stands for files or folders.
_kiln_propose() {
  local each words=()
  for each in $1; do
    case $each in
      NOTHING) ;;
      FILE)
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
        ;;
      DIR)
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2")
        ;;
      *) words+=("$each") ;;
    esac
  done
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "${words[*]}" -- "$2")
}

_kiln() {
  local current=${COMP_WORDS[COMP_CWORD]} path='' unnamed=0 only='' option='' index=1 word
  COMPREPLY=()
  # `--option=value` arrives as three words.
  local last=$COMP_CWORD
  if [[ $current == = ]]; then
    current=''
  elif ((last > 1)) && [[ ${COMP_WORDS[last - 1]} == = ]]; then
    ((last -= 1))
  fi
  # What stands before the word that is completed: the command, an option that waits for its value.
  if [[ ${COMP_WORDS[1]-} == help ]] && ((last > 1)); then only=commands index=2; fi
  for (( ; index < last; ++index)); do
    word=${COMP_WORDS[index]}
    if [[ $word == = ]]; then
      continue
    elif [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      if [[ -n $(_kiln_values "$path" "$word") ]]; then option=$word; fi
    elif [[ " $(_kiln_commands "$path") " == *" $word "* ]]; then
      path=${path:+$path }$word
    else
      ((unnamed += 1))
    fi
  done
  if [[ $only == commands ]]; then
    _kiln_propose "$(_kiln_commands "$path")" "$current"
  elif [[ -n $option ]]; then
    _kiln_propose "$(_kiln_values "$path" "$option")" "$current"
  elif [[ $current == -* ]]; then
    _kiln_propose "$(_kiln_options "$path")" "$current"
  else
    _kiln_propose "$(_kiln_commands "$path") $(_kiln_values "$path" "$unnamed")" "$current"
    if [[ -z $current && ${#COMPREPLY[@]} -eq 0 ]]; then
      _kiln_propose "$(_kiln_options "$path")" ''
    fi
  fi
}

complete -F _kiln kiln
)bash";

/// "a b c" of words that hold no spaces.
std::string in_one_line(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// What bash proposes for a value. It is never empty: that is how options with a value are told
/// from flags.
std::string bash_values(const ArgumentText& argument) {
  std::vector<std::string> values = argument.words;
  if (argument.placeholder == "FILE" || argument.placeholder == "DIR")
    values.push_back(argument.placeholder);
  if (argument.placeholder == "KERNEL") values.emplace_back("DIR");
  return values.empty() ? "NOTHING" : in_one_line(values);
}

/// A function that prints `words` of each command that has any.
std::string command_table(const std::string& name, const std::string& comment,
                          const std::map<std::string, std::string>& words) {
  std::string text = fmt::format("\n# {}\n{}() {{\n  case $1 in\n", comment, name);
  for (const auto& [path, list] : words) {
    if (!list.empty()) text += fmt::format("    '{}') printf %s '{}' ;;\n", path, list);
  }
  return text + "  esac\n}\n";
}

std::string value_table(const CommandText& root) {
  std::map<std::string, std::vector<std::string>> patterns;  // by what is proposed
  for (const CommandText* command : all_commands(root)) {
    for (const ArgumentText& option : command->options) {
      if (option.placeholder.empty()) continue;
      for (const std::string& name : option.names)
        patterns[bash_values(option)].push_back(fmt::format("'{} {}'", command->path, name));
    }
    std::size_t place = 0;
    for (const ArgumentText& word : command->unnamed) {
      const std::string number = word.repeats ? "'[0-9]*" : fmt::format("{}'", place);
      patterns[bash_values(word)].push_back(fmt::format("'{} {}", command->path, number));
      ++place;
    }
  }
  std::string text =
      "\n# Prints what is proposed for the value of an option $2 of command $1, or for its word\n"
      "# number $2 that stands without a name. NOTHING: it takes a value that is not known.\n"
      "_kiln_values() {\n  case \"$1 $2\" in\n";
  for (const auto& [values, options] : patterns) {
    text += fmt::format("    {})\n      printf %s '{}'\n      ;;\n",
                        fmt::join(options, " | \\\n      "), values);
  }
  return text + "  esac\n}\n";
}

}  // namespace

std::string bash_completion(const CommandText& root) {
  std::map<std::string, std::string> commands;
  std::map<std::string, std::string> options;
  for (const CommandText* command : all_commands(root)) {
    std::vector<std::string> words;
    for (const CommandText& each : command->subcommands) words.push_back(last_word(each));
    if (command == &root) {
      for (const ExtraWord& extra : extra_words()) words.push_back(extra.name);
    }
    commands[command->path] = in_one_line(words);
    words.clear();
    for (const ArgumentText& option : command->options)
      words.insert(words.end(), option.names.begin(), option.names.end());
    options[command->path] = in_one_line(words);
  }
  return fmt::format("# Completion of kiln {} for bash, made by `kiln completion bash`.\n",
                     kVersion) +
         "# shellcheck shell=bash\n" +
         command_table("_kiln_commands", "Prints the commands below command $1.", commands) +
         command_table("_kiln_options", "Prints the options of command $1.", options) +
         value_table(root) + kBashFunction;
}

}  // namespace kiln::cli
