// `kiln db merge`: the sessions of several databases in one.
// SPDX-License-Identifier: Apache-2.0
#include "db/merge.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/json_output.hpp"
#include "cli/print.hpp"
#include "cli/units.hpp"

namespace kiln::cli {
namespace {

struct DbMergeFlags {
  CommonOptions common;
  std::vector<std::filesystem::path> sources;
  std::filesystem::path target;
};

std::string count_of(std::size_t count, const char* what) {
  return counted(static_cast<std::int64_t>(count), what);
}

ExitCode run_db_merge(const DbMergeFlags& options) {
  const MergeReport report = merge_databases(options.sources, options.target);
  if (options.common.json) {
    print_shown("{}", json_output({{"path", options.target.string()},
                                   {"files", report.files},
                                   {"sessions", report.sessions},
                                   {"trials", report.trials},
                                   {"bests", report.bests},
                                   {"repeated", report.repeated},
                                   {"apart", report.apart}}));
    return ExitCode::ok;
  }
  print_shown("{}: {}, {}, {} from {}\n", options.target.string(),
              count_of(report.sessions, "session"), count_of(report.trials, "trial"),
              count_of(report.bests, "best"), count_of(report.files, "file"));
  if (report.repeated > 0) {
    print_shown("  {} held by another copy already\n", count_of(report.repeated, "session"));
  }
  if (report.apart > 0) {
    print_shown("  {} kept as separate copies: same beginning, different continuation\n",
                count_of(report.apart, "session"));
  }
  return ExitCode::ok;
}

}  // namespace

void add_db_merge(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbMergeFlags>();
  CLI::App* command = db.add_subcommand(
      "merge", "The sessions of several databases in one; the same in any order, however often");
  command->add_option("sources", options->sources, "Databases to read")
      ->required()
      ->type_name("FILE")
      ->check(database_name());
  command
      ->add_option("--into", options->target,
                   "Database to write; what it holds already is part of it")
      ->required()
      ->type_name("FILE")
      ->check(database_name());
  add_json_option(*command, options->common);
  command->footer(
      "Of copies of one session the furthest stays; copies that went on apart are both kept.\n"
      "A target file is replaced in one step, its sessions get new numbers; sessions of a server\n"
      "keep their numbers.");
  command->callback([options, &work] { work = [options] { return run_db_merge(*options); }; });
}

}  // namespace kiln::cli
