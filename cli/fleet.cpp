// `kiln fleet ...`: plans as rows of a server, and the workers that tune them; each subcommand is a
// file of cli/fleet/.
// SPDX-License-Identifier: Apache-2.0

#include "cli/checks.hpp"
#include "cli/fleet/command.hpp"
#include "cli/options.hpp"
#include "db/store.hpp"

namespace kiln::cli {

void add_server_option(CLI::App& command, CommonOptions& options) {
  options.database = default_database_path();
  add_value(command, "--db", options.database, "URL",
            "The server, as postgresql://HOST/DATABASE (default: $KILN_DB)")
      ->check(database_name());
}

void add_plan_option(CLI::App& command, std::int64_t& plan) {
  add_value(command, "--plan", plan, "NUMBER",
            "Number of the plan, as submit prints it (default: all plans)")
      ->check(whole_number(1));
}

void add_fleet_command(CLI::App& app, Work& work) {
  CLI::App* command = app.add_subcommand(
      "fleet", "Tune a plan on many hosts, with a PostgreSQL server between them");
  command->require_subcommand(1);
  for (const auto add : {add_fleet_init, add_fleet_submit, add_fleet_work, add_fleet_status,
                         add_fleet_cancel, add_fleet_retry})
    add(*command, work);
}

}  // namespace kiln::cli
