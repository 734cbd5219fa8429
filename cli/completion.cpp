// `kiln completion SHELL`: the script with which a shell completes kiln's commands and options.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/completion/scripts.hpp"

namespace kiln::cli {
namespace {

std::string completion_script(const std::string& shell, const CommandText& root) {
  const auto& shells = completed_shells();
  return std::find_if(shells.begin(), shells.end(),
                      [&](const CompletedShell& each) { return each.name == shell; })
      ->script(root);
}

}  // namespace

const std::vector<CompletedShell>& completed_shells() {
  static const std::vector<CompletedShell> shells = {
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
  return shells;
}

std::vector<std::string> completed_shell_names() {
  std::vector<std::string> names;
  for (const CompletedShell& each : completed_shells()) names.push_back(each.name);
  return names;
}

void add_completion_command(CLI::App& app, Work& work) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print the script that completes kiln's words in a shell");
  const std::vector<std::string> names = completed_shell_names();
  command->add_option("shell", *shell, fmt::format("One of {}", fmt::join(names, ", ")))
      ->required()
      ->type_name("SHELL")
      ->check(one_of("completion for the shell", names));
  command->footer(
      "Packages install the scripts. Without a package, for the present session:\n"
      "  source <(kiln completion bash)\n"
      "  source <(kiln completion zsh)    # after compinit\n"
      "  kiln completion fish | source");
  command->callback([shell, &app, &work] {
    work = [shell, &app] {
      fmt::print("{}", completion_script(*shell, command_texts(app)));
      return ExitCode::ok;
    };
  });
}

}  // namespace kiln::cli
