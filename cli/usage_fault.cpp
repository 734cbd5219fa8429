// SPDX-License-Identifier: Apache-2.0
#include "cli/usage_fault.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

}  // namespace

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
  if (commands.empty()) return fmt::format("{} (see {} --help)", fault, path);
  if (next == words.size()) {
    return fmt::format("{} expects a command: {} (see {} --help)", path, comma_list(commands),
                       path);
  }
  if (words[next].starts_with("-")) return fmt::format("{} (see {} --help)", fault, path);
  return fmt::format("there is no command '{} {}'{} (there are: {})", path, words[next],
                     did_you_mean(words[next], commands), comma_list(commands));
}

}  // namespace kiln::cli
