// `kiln db lock`: a text that pins which configs launchers choose.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/text_files.hpp"
#include "cli/units.hpp"
#include "db/selection_lock.hpp"
#include "db/shipped.hpp"

namespace kiln::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string target;
  std::vector<std::string> devices;
  bool no_shipped = false;
};

/// What a launcher with this database would choose from.
std::vector<BestRecord> layered_bests(const Options& options) {
  std::vector<BestRecord> bests = Store(options.common.database, Store::Mode::read).bests();
  std::set<std::string> kernels;
  for (const std::string& kernel : options.common.library().names()) kernels.insert(kernel);
  for (const std::string& kernel : kernels) {
    if (options.no_shipped) break;
    for (BestRecord& best : shipped_bests(kernel)) bests.push_back(std::move(best));
  }
  std::erase_if(bests, [&](const BestRecord& best) {
    const bool is_asked_for =
        options.devices.empty() || std::find(options.devices.begin(), options.devices.end(),
                                             best.key.device) != options.devices.end();
    return best.verdict == Verdict::none || !is_asked_for;
  });
  return bests;
}

ExitCode run(const Options& options) {
  const std::vector<BestRecord> bests = layered_bests(options);
  if (bests.empty()) {
    throw DatabaseError(fmt::format("{}: holds no best to lock", options.common.database.string()));
  }
  write_text_file(options.target, write_selection_lock(bests));
  if (options.target != "-") {
    fmt::print("{}: locked to {}; launchers follow it with KILN_LOCK={}\n", options.target,
               counted(static_cast<std::int64_t>(bests.size()), "best"), options.target);
  }
  return ExitCode::ok;
}

}  // namespace

void add_db_lock(CLI::App& db, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* command = db.add_subcommand("lock", "Pin which configs launchers choose, as a text");
  command->add_option("target", options->target, "File to write; - for stdout")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  command
      ->add_option("--device", options->devices,
                   "Only bests of this device, as `kiln db info` prints it; may repeat")
      ->type_name("IDENTITY")
      ->allow_extra_args(false);
  command->add_flag("--no-shipped", options->no_shipped,
                    "Lock to the database alone, without the wisdom that is part of Kiln");
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  command->callback([options, &work] { work = [options] { return run(*options); }; });
}

}  // namespace kiln::cli
