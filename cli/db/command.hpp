// The subcommands of `kiln db`: one file each, of the same shape as the commands (cli/command.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/command.hpp"

namespace kiln::cli {

/// Each adds one subcommand to `db`; when the user chose it, parsing sets `work`.
void add_db_info(CLI::App& db, Work& work);
void add_db_check(CLI::App& db, Work& work);
void add_db_publish(CLI::App& db, Work& work);
void add_db_export(CLI::App& db, Work& work);
void add_db_import(CLI::App& db, Work& work);
void add_db_portfolio(CLI::App& db, Work& work);
void add_db_lock(CLI::App& db, Work& work);
void add_db_merge(CLI::App& db, Work& work);
void add_db_dump(CLI::App& db, Work& work);
void add_db_rm(CLI::App& db, Work& work);

/// The options of a subcommand that reads one database: FILE or --db, and --json. `run` is called
/// with them when the user chose `command`.
void add_reading_options(CLI::App& command, const std::shared_ptr<CommonOptions>& options,
                         Work& work, ExitCode (*run)(const CommonOptions&));

}  // namespace kiln::cli
