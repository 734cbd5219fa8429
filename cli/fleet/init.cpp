// `kiln fleet init`: makes the tables and the roles.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/fleet/command.hpp"
#include "cli/print.hpp"
#include "db/fleet.hpp"

namespace kiln::cli {
namespace {

ExitCode run_fleet_init(const CommonOptions& options) {
  Fleet::init(options.database);
  print_shown(
      "{}: the tables of a fleet and the roles kiln_submit and kiln_work are there\n"
      "GRANT kiln_submit TO a role lets it submit, cancel and retry; GRANT kiln_work lets it "
      "work\n",
      options.database.string());
  return ExitCode::ok;
}

}  // namespace

void add_fleet_init(CLI::App& fleet, Work& work) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command =
      fleet.add_subcommand("init", "Create the tables, and two roles with the least rights");
  add_server_option(*command, *options);
  command->footer("Needs a role that may create tables and roles. Run again, it mends the rights.");
  command->callback([options, &work] { work = [options] { return run_fleet_init(*options); }; });
}

}  // namespace kiln::cli
