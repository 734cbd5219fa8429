// `kiln db dump`: everything a database holds, as text that depends on nothing but the content.
// SPDX-License-Identifier: Apache-2.0

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "db/merge.hpp"

namespace kiln::cli {
namespace {

struct DbDumpFlags {
  CommonOptions common;
};

ExitCode run_db_dump(const DbDumpFlags& options) {
  dump_database(options.common.database,
                [](const std::string& line) { print_shown("{}\n", line); });
  return ExitCode::ok;
}

}  // namespace

void add_db_dump(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbDumpFlags>();
  CLI::App* command =
      db.add_subcommand("dump", "Print everything as JSON lines; equal content, equal text");
  CLI::Option* file = add_value(*command, "file", options->common.database, "FILE",
                                "Database file, the same as --db")
                          ->check(database_name());
  add_database_option(*command, options->common);
  command->callback([=, &work] {
    if (file->count() > 0 && command->count("--db") > 0) {
      throw UsageError("the database is named twice, as FILE and by --db");
    }
    work = [options] { return run_db_dump(*options); };
  });
}

}  // namespace kiln::cli
