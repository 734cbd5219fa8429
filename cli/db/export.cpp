// `kiln db export`: the bests of a database as wisdom, a text to keep and to send.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/text_files.hpp"
#include "cli/units.hpp"
#include "db/wisdom.hpp"

namespace kiln::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string target;
  std::vector<std::string> kernels;
  std::vector<std::string> devices;
};

bool is_asked_for(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<BestRecord> chosen_bests(const Options& options) {
  std::vector<BestRecord> bests = Store(options.common.database, Store::Mode::read).bests();
  std::erase_if(bests, [&](const BestRecord& best) {
    return best.verdict == Verdict::none || !is_asked_for(options.kernels, best.key.kernel) ||
           !is_asked_for(options.devices, best.key.device);
  });
  return bests;
}

ExitCode run(const Options& options) {
  const std::vector<BestRecord> bests = chosen_bests(options);
  write_text_file(options.target, write_wisdom(bests));
  const auto count = counted(static_cast<std::int64_t>(bests.size()), "best");
  if (options.target != "-") fmt::print("{}: {}\n", options.target, count);
  if (bests.empty()) {
    fmt::print(stderr, "kiln: warning: {} holds no best that was asked for\n",
               options.common.database.string());
  }
  return bests.empty() ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_db_export(CLI::App& db, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* command = db.add_subcommand("export", "Write the bests as wisdom: JSON lines of text");
  command->add_option("target", options->target, "File to write; - for stdout")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--kernel", options->kernels, "Only bests of this kernel; may repeat")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--device", options->devices,
                   "Only bests of this device, as `kiln db info` prints it; may repeat")
      ->type_name("IDENTITY")
      ->allow_extra_args(false);
  add_database_option(*command, options->common);
  command->footer("docs/wisdom.md describes the format. Exit code 1: there was nothing to write.");
  command->callback([options, &work] { work = [options] { return run(*options); }; });
}

}  // namespace kiln::cli
