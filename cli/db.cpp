// `kiln db info|check|publish`: the database file itself.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/units.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string target;
};

Json info_json(const Store::Info& info) {
  return {{"path", info.path},     {"schema_version", info.schema_version},
          {"bytes", info.bytes},   {"sessions", info.sessions},
          {"trials", info.trials}, {"failures", info.failures},
          {"bests", info.bests},   {"devices", info.devices}};
}

ExitCode run_info(const Options& options) {
  const Store::Info info = Store(options.common.database, Store::Mode::read).info();
  if (options.common.json) {
    fmt::print("{}", json_output(info_json(info)));
    return ExitCode::ok;
  }
  fmt::print("{}: schema {}, {}, {}, {} ({} failed), {}\n", info.path, info.schema_version,
             pretty_bytes(static_cast<double>(info.bytes)), counted(info.sessions, "session"),
             counted(info.trials, "trial"), info.failures, counted(info.bests, "best"));
  for (const std::string& device : info.devices) fmt::print("  {}\n", device);
  return ExitCode::ok;
}

ExitCode run_check(const Options& options) {
  const std::vector<std::string> findings =
      Store(options.common.database, Store::Mode::read).check();
  if (options.common.json) {
    fmt::print("{}", json_output({{"ok", findings.empty()}, {"findings", findings}}));
  } else if (findings.empty()) {
    fmt::print("{}: sound\n", options.common.database.string());
  } else {
    fmt::print("{}\n", fmt::join(findings, "\n"));
  }
  return findings.empty() ? ExitCode::ok : ExitCode::failed;
}

ExitCode run_publish(const Options& options) {
  Store(options.common.database, Store::Mode::read).publish(options.target);
  fmt::print("{}: published from {}\n", options.target, options.common.database.string());
  return ExitCode::ok;
}

/// `info` and `check`: FILE or --db, --json.
void add_reading_action(CLI::App& parent, const char* name, const char* help,
                        const std::shared_ptr<Options>& options, Work& work,
                        ExitCode (*run)(const Options&)) {
  CLI::App* command = parent.add_subcommand(name, help);
  CLI::Option* file =
      command->add_option("file", options->common.database, "Database file, the same as --db")
          ->type_name("FILE")
          ->check(file_name());
  add_database_option(*command, options->common);
  add_json_option(*command, options->common);
  command->callback([=, &work] {
    if (file->count() > 0 && command->count("--db") > 0) {
      throw UsageError("the database is named twice, as FILE and by --db");
    }
    work = [options, run] { return run(*options); };
  });
}

}  // namespace

void add_db_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("db", "Look into the database, check it, publish a copy");
  command->require_subcommand(1);
  add_reading_action(*command, "info", "What the file holds", options, work, run_info);
  add_reading_action(*command, "check", "Prove that the file is sound; exit code 1 if it is not",
                     options, work, run_check);
  CLI::App* publish = command->add_subcommand(
      "publish", "Write a compact read-only copy for launchers, replaced by rename");
  publish->add_option("target", options->target, "File to write")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  add_database_option(*publish, options->common);
  publish->callback([options, &work] { work = [options] { return run_publish(*options); }; });
}

}  // namespace kiln::cli
