// `kiln db check`: the proof that a database file is sound.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/db/command.hpp"
#include "cli/json_output.hpp"
#include "cli/print.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

ExitCode run_db_check(const CommonOptions& options) {
  const std::vector<std::string> findings = Store(options.database, Store::Mode::read).check();
  if (options.json) {
    print_shown("{}", json_output({{"ok", findings.empty()}, {"findings", findings}}));
  } else if (findings.empty()) {
    print_shown("{}: sound\n", options.database.string());
  } else {
    print_shown("{}\n", fmt::join(findings, "\n"));
  }
  return findings.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_db_check(CLI::App& db, Work& work) {
  CLI::App* command =
      db.add_subcommand("check", "Prove that the file is sound; exit code 1 if it is not");
  add_reading_options(*command, std::make_shared<CommonOptions>(), work, run_db_check);
}

}  // namespace kiln::cli
