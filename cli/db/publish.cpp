// `kiln db publish`: a compact read-only copy for launchers.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/print.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

struct DbPublishFlags {
  CommonOptions common;
  std::string target;
};

ExitCode run_db_publish(const DbPublishFlags& options) {
  Store(options.common.database, Store::Mode::read).publish(options.target);
  print_shown("{}: published from {}\n", options.target, options.common.database.string());
  return ExitCode::ok;
}

}  // namespace

void add_db_publish(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbPublishFlags>();
  CLI::App* command = db.add_subcommand(
      "publish", "Write a compact read-only copy for launchers, replaced by rename");
  command->add_option("target", options->target, "File to write")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  add_database_option(*command, options->common);
  command->callback([options, &work] { work = [options] { return run_db_publish(*options); }; });
}

}  // namespace kiln::cli
