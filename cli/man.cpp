// `kiln man [COMMAND...]`: the man page of kiln or of one command, or all of them as files.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/man_page.hpp"
#include "cli/print.hpp"
#include "cli/text_files.hpp"
#include "core/suggest.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct ManFlags {
  std::vector<std::string> command;  ///< its words: "db", "info"
  fs::path into;
};

/// Throws UsageError for words that name no command.
const CommandText& command_of(const CommandText& root, const std::vector<std::string>& words) {
  const std::string path = fmt::format("{}", fmt::join(words, " "));
  std::vector<std::string> known;
  for (const CommandText* command : all_commands(root)) {
    if (command->path == path) return *command;
    if (!command->path.empty()) known.push_back(command->path);
  }
  throw UsageError(fmt::format("there is no command 'kiln {}'{} (kiln --help lists them)", path,
                               did_you_mean(path, known)));
}

ExitCode run_man(const ManFlags& options, const CommandText& root) {
  if (options.into.empty()) {
    print_data(man_page(command_of(root, options.command)));
    return ExitCode::ok;
  }
  if (!options.command.empty()) throw UsageError("--into writes every page: name no command");
  std::error_code error;
  fs::create_directories(options.into, error);
  if (error) {
    throw UsageError(
        fmt::format("{}: the folder cannot be made: {}", options.into.string(), error.message()));
  }
  for (const CommandText* command : all_commands(root))
    write_text_file(options.into / (man_page_name(*command) + ".1"), man_page(*command),
                    {".TH KILN", false});
  return ExitCode::ok;
}

}  // namespace

void add_man_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<ManFlags>();
  CLI::App* command = app.add_subcommand("man", "Print the man page of kiln or of one command");
  command->add_option("command", options->command, "The command's words, e.g. db info")
      ->type_name("COMMAND");
  command
      ->add_option("--into", options->into,
                   "Write the page of every command into this folder: kiln.1, kiln-tune.1, ...")
      ->type_name("DIR")
      ->check(file_name());
  command->footer(
      "Packages install the pages: man kiln-tune. Without a package:\n"
      "  kiln man tune | man -l -");
  command->callback([options, &app, &work] {
    work = [options, &app] { return run_man(*options, command_texts(app)); };
  });
}

}  // namespace kiln::cli
