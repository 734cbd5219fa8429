// `kiln db ...`: the database file itself; each subcommand is a file of cli/db/.
// SPDX-License-Identifier: Apache-2.0

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/options.hpp"

namespace kiln::cli {

void add_reading_options(CLI::App& command, const std::shared_ptr<CommonOptions>& options,
                         Work& work, ExitCode (*run)(const CommonOptions&)) {
  CLI::Option* file =
      add_value(command, "file", options->database, "FILE", "Database file, the same as --db")
          ->check(database_name());
  add_database_option(command, *options);
  add_json_option(command, *options);
  command.callback([=, &command, &work] {
    if (file->count() > 0 && command.count("--db") > 0) {
      throw UsageError("the database is named twice, as FILE and by --db");
    }
    work = [options, run] { return run(*options); };
  });
}

void add_db_command(CLI::App& app, Work& work) {
  CLI::App* command =
      app.add_subcommand("db", "Look into the database, check it, publish it, send it, merge");
  command->require_subcommand(1);
  for (const auto add : {add_db_info, add_db_check, add_db_publish, add_db_export, add_db_import,
                         add_db_portfolio, add_db_lock, add_db_merge, add_db_dump, add_db_rm})
    add(*command, work);
}

}  // namespace kiln::cli
