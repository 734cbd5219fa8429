// `kiln fleet cancel` and `kiln fleet retry`.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/fleet/command.hpp"
#include "cli/print.hpp"
#include "cli/units.hpp"
#include "db/fleet.hpp"

namespace kiln::cli {
namespace {

struct FleetChangeFlags {
  CommonOptions common;
  std::int64_t plan = 0;
};

ExitCode run_fleet_cancel(const FleetChangeFlags& options) {
  const std::int64_t count = Fleet(options.common.database).cancel(options.plan);
  print_shown("{} cancelled; workers that have one of them stop within a renewal of their lease\n",
              counted(count, "job"));
  return ExitCode::ok;
}

ExitCode run_fleet_retry(const FleetChangeFlags& options) {
  const std::int64_t count = Fleet(options.common.database).retry(options.plan);
  print_shown("{} waiting again\n", counted(count, "job"));
  return ExitCode::ok;
}

void add_change(CLI::App& fleet, Work& work, const char* name, const char* summary,
                ExitCode (*run)(const FleetChangeFlags&)) {
  auto options = std::make_shared<FleetChangeFlags>();
  CLI::App* command = fleet.add_subcommand(name, summary);
  add_server_option(*command, options->common);
  add_plan_option(*command, options->plan);
  command->callback([options, run, &work] { work = [options, run] { return run(*options); }; });
}

}  // namespace

void add_fleet_cancel(CLI::App& fleet, Work& work) {
  add_change(fleet, work, "cancel", "Cancel the jobs that are not done", run_fleet_cancel);
}

void add_fleet_retry(CLI::App& fleet, Work& work) {
  add_change(fleet, work, "retry",
             "Let jobs that failed, were cancelled or were set aside wait again", run_fleet_retry);
}

}  // namespace kiln::cli
