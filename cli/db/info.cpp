// `kiln db info`: what the database file holds.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/db/command.hpp"
#include "cli/json_output.hpp"
#include "cli/units.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

Json info_json(const Store::Info& info) {
  return {{"path", info.path},     {"schema_version", info.schema_version},
          {"bytes", info.bytes},   {"sessions", info.sessions},
          {"trials", info.trials}, {"failures", info.failures},
          {"bests", info.bests},   {"devices", info.devices}};
}

ExitCode run(const CommonOptions& options) {
  const Store::Info info = Store(options.database, Store::Mode::read).info();
  if (options.json) {
    fmt::print("{}", json_output(info_json(info)));
    return ExitCode::ok;
  }
  fmt::print("{}: schema {}, {}, {}, {} ({} failed), {}\n", info.path, info.schema_version,
             pretty_bytes(static_cast<double>(info.bytes)), counted(info.sessions, "session"),
             counted(info.trials, "trial"), info.failures, counted(info.bests, "best"));
  for (const std::string& device : info.devices) fmt::print("  {}\n", device);
  return ExitCode::ok;
}

}  // namespace

void add_db_info(CLI::App& db, Work& work) {
  CLI::App* command = db.add_subcommand("info", "What the file holds");
  add_reading_options(*command, std::make_shared<CommonOptions>(), work, run);
}

}  // namespace kiln::cli
