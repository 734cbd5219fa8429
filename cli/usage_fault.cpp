// SPDX-License-Identifier: Apache-2.0
#include "cli/usage_fault.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/suggest.hpp"

namespace kiln::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  // A command without a group is hidden.
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Every option of the command, as it is written: "--trials".
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The option that a word which is none most likely means; empty: no word is like that.
std::string option_hint(const CLI::App& command, const std::vector<std::string>& words,
                        const std::string& fault) {
  const std::vector<std::string> known = options_of(command);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const bool is_field = name != word && fault.find(" " + word) != std::string::npos;
    if (is_field && !name.starts_with("-") &&
        std::find(known.begin(), known.end(), "--problem") != known.end())
      return fmt::format("; did you mean '--problem {}'?", word);
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end())
      continue;
    if (std::string hint = did_you_mean(name, known); !hint.empty()) return hint;
  }
  return "";
}

/// The command that a word which is none most likely means: one of the same name below another
/// command ("kiln import" is "kiln db import"), else the one with the nearest name.
std::string command_hint(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> known = commands_of(app);
  for (const std::string& name : known) {
    const CLI::App* found = find_command(*find_command(app, name), word);
    if (found != nullptr)
      return fmt::format("; did you mean '{} {} {}'?", app.get_name(), name, word);
  }
  return did_you_mean(word, known);
}

}  // namespace

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::string unexpected_words(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  return fmt::format("The following argument{} not expected: {}",
                     words.size() == 1 ? " was" : "s were", fmt::join(words, " "));
}

std::string usage_fault(const CLI::App& app, const std::vector<std::string>& words,
                        const std::string& fault) {
  const CLI::App* command = &app;
  std::string path = app.get_name();
  std::size_t next = 0;
  while (next < words.size()) {
    const CLI::App* found = find_command(*command, words[next]);
    if (found == nullptr) break;
    command = found;
    path += " " + words[next++];
  }
  const std::vector<std::string> commands = commands_of(*command);
  if (commands.empty())
    return fmt::format("{}{} (see {} --help)", fault, option_hint(*command, words, fault), path);
  if (next == words.size()) {
    return fmt::format("{} expects a command: {} (see {} --help)", path, comma_list(commands),
                       path);
  }
  if (words[next].starts_with("-")) {
    return fmt::format("there is no option '{}'{} (see {} --help)", words[next],
                       option_hint(*command, words, fault), path);
  }
  return fmt::format("there is no command '{} {}'{} (there are: {})", path, words[next],
                     command_hint(*command, words[next]), comma_list(commands));
}

}  // namespace kiln::cli
