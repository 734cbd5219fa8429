// The script of zsh: one function a command, each a call of _arguments.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/completion/scripts.hpp"
#include "core/shell_word.hpp"
#include "core/version.hpp"

namespace kiln::cli {
namespace {

/// "_kiln_db_info" of "db info".
std::string zsh_function(const CommandText& command) {
  std::string name = command.path.empty() ? "_kiln" : "_kiln_" + command.path;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

/// `text` with a backslash before what separates the parts of a specification.
std::string zsh_escaped(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

/// ":FILE:_files" and the like: what a value is called, and what completes it.
std::string zsh_value(const ArgumentText& argument) {
  std::string action = " ";  // there is a value, and nothing is known of it
  if (argument.placeholder == "FILE") action = "_files";
  if (argument.placeholder == "DIR") action = "_files -/";
  if (!argument.words.empty()) action = fmt::format("({})", fmt::join(argument.words, " "));
  if (argument.placeholder == "KERNEL") action = "__kiln_kernel";
  const std::string name =
      argument.names.front().starts_with("-") ? argument.placeholder : argument.names.front();
  return fmt::format(":{}:{}", zsh_escaped(name), action);
}

/// The specifications of one option, one a name; a name excludes the others.
std::vector<std::string> option_specs(const ArgumentText& option) {
  std::vector<std::string> specs;
  const std::string others =
      option.repeats ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  const std::string summary = zsh_escaped(short_summary(option.summary));
  for (const std::string& name : option.names) {
    const bool takes_value = !option.placeholder.empty();
    // "--db=" takes `--db FILE` and `--db=FILE`.
    specs.push_back(fmt::format("{}{}{}[{}]{}", others, name,
                                takes_value && name.starts_with("--") ? "=" : "", summary,
                                takes_value ? zsh_value(option) : ""));
  }
  return specs;
}

/// A command with commands below it hands the rest of the words on.
std::string function_of_group(const CommandText& command) {
  std::string text = fmt::format(
      "{}() {{\n"
      "  local context state state_descr line curcontext=$curcontext\n"
      "  typeset -A opt_args\n"
      "  local -a commands=(\n",
      zsh_function(command));
  for (const CommandText& each : command.subcommands) {
    text += fmt::format(
        "    {}\n", shell_quoted(last_word(each) + ":" + zsh_escaped(short_summary(each.summary))));
  }
  if (command.path.empty()) {
    for (const ExtraWord& extra : extra_words())
      text += fmt::format("    {}\n", shell_quoted(extra.name + ":" + zsh_escaped(extra.summary)));
  }
  text += "  )\n  _arguments -C \\\n";
  for (const ArgumentText& option : command.options) {
    for (const std::string& spec : option_specs(option))
      text += fmt::format("    {} \\\n", shell_quoted(spec));
  }
  text +=
      "    '1: :->command' '*::: :->words'\n"
      "  case $state in\n"
      "    command) _describe -t commands command commands ;;\n"
      "    words)\n"
      "      words=($line[1] \"${words[@]}\")\n"
      "      ((CURRENT += 1))\n"
      "      case $line[1] in\n";
  if (command.path.empty()) text += "        help) _kiln ;;\n";
  for (const CommandText& each : command.subcommands)
    text += fmt::format("        {}) {} ;;\n", last_word(each), zsh_function(each));
  return text + "      esac\n      ;;\n  esac\n}\n\n";
}

std::string function_of(const CommandText& command) {
  if (!command.subcommands.empty()) return function_of_group(command);
  std::string text = fmt::format("{}() {{\n  _arguments", zsh_function(command));
  for (const ArgumentText& option : command.options) {
    for (const std::string& spec : option_specs(option))
      text += fmt::format(" \\\n    {}", shell_quoted(spec));
  }
  for (const ArgumentText& word : command.unnamed) {
    const std::string which = word.repeats ? "*" : word.required ? "" : ":";
    text += fmt::format(" \\\n    {}", shell_quoted(which + zsh_value(word)));
  }
  return text + "\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandText& root) {
  std::string text = fmt::format(
      "#compdef kiln\n"
      "# Completion of kiln {} for zsh, made by `kiln completion zsh`.\n\n"
      "# The kernels built in, or the folder of another.\n"
      "__kiln_kernel() {{\n",
      kVersion);
  std::vector<std::string> kernels;
  for (const CommandText* command : all_commands(root)) {
    for (const ArgumentText& word : command->unnamed)
      if (word.placeholder == "KERNEL") kernels = word.words;
  }
  text += fmt::format(
      "  _alternative 'kernels:kernel:({})' 'folders:folder of a kernel:_files -/'\n}}\n\n",
      fmt::join(kernels, " "));
  for (const CommandText* command : all_commands(root)) text += function_of(*command);
  // Read by the completion system this file is the body of _kiln; sourced it defines that function.
  return text +
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
         "  _kiln \"$@\"\n"
         "else\n"
         "  compdef _kiln kiln\n"
         "fi\n";
}

}  // namespace kiln::cli
