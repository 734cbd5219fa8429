// The subcommands of `kiln fleet`: one file each, of the same shape as the commands
// (cli/command.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/command.hpp"

namespace kiln::cli {

/// Each adds one subcommand to `fleet`; when the user chose it, parsing sets `work`.
void add_fleet_init(CLI::App& fleet, Work& work);
void add_fleet_submit(CLI::App& fleet, Work& work);
void add_fleet_work(CLI::App& fleet, Work& work);
void add_fleet_status(CLI::App& fleet, Work& work);
void add_fleet_cancel(CLI::App& fleet, Work& work);
void add_fleet_retry(CLI::App& fleet, Work& work);

/// --db of these commands: the URL of a server.
void add_server_option(CLI::App& command, CommonOptions& options);
/// --plan: the number of a plan; 0: all plans.
void add_plan_option(CLI::App& command, std::int64_t& plan);

}  // namespace kiln::cli
