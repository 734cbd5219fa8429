// `kiln db export`: the bests of a database as wisdom, a text to keep and to send; or as T4 files
// with their trials, for the tools of others.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/text_files.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "core/hash.hpp"
#include "db/store.hpp"
#include "interchange/t4_export.hpp"
#include "wisdom/wisdom.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct DbExportFlags {
  CommonOptions common;
  std::string target;
  std::vector<std::string> kernels;
  std::vector<std::string> devices;
  std::string format = "wisdom";
  bool force = false;
};

bool is_asked_for(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<BestRecord> chosen_bests(const Store& store, const DbExportFlags& options) {
  std::vector<BestRecord> bests = store.bests();
  std::erase_if(bests, [&](const BestRecord& best) {
    return best.verdict == Verdict::none || !is_asked_for(options.kernels, best.key.kernel) ||
           !is_asked_for(options.devices, best.key.device);
  });
  return bests;
}

void write_as_wisdom(const std::vector<BestRecord>& bests, const DbExportFlags& options) {
  write_text_file(options.target, write_wisdom(bests), {"{\"kiln_wisdom\"", options.force});
  const auto count = counted(static_cast<std::int64_t>(bests.size()), "best");
  if (options.target != "-") print_shown("{}: {}\n", options.target, count);
}

/// The same name for the same problem, device and timing, whatever else the database holds.
std::string t4_name(const BestRecord& best) {
  // The name comes from a row: it does not get to say in which folder the file lies.
  std::string kernel = best.key.kernel;
  for (char& c : kernel) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  const std::string timing = best.key.timing == Timing::eager ? "" : "\ngraph";
  return fmt::format("{}-{}.json", kernel.substr(0, 64),
                     hash64_hex(best.key.problem + '\n' + best.key.device + timing));
}

void write_as_t4(const Store& store, const std::vector<BestRecord>& bests,
                 const DbExportFlags& options) {
  std::error_code error;
  fs::create_directories(options.target, error);
  if (error) {
    throw UsageError(
        fmt::format("{}: expected a folder to write to: {}", options.target, error.message()));
  }
  for (const BestRecord& best : bests) {
    const fs::path path = fs::path(options.target) / t4_name(best);
    // The hash in its name says whose file it is.
    write_text_file(path, write_t4(best, store.trials(best.session)), {{}, true});
    print_shown("{}  {}  {}\n", path.string(), best.key.problem, best.key.device);
  }
}

ExitCode run_db_export(const DbExportFlags& options) {
  const Store store(options.common.database, Store::Mode::read);
  const std::vector<BestRecord> bests = chosen_bests(store, options);
  if (bests.empty()) {  // a file that is there keeps what it holds
    print_shown(stderr, "kiln: warning: {} has no best that matches\n",
                options.common.database.string());
    return ExitCode::failed;
  }
  if (options.format == "t4") {
    write_as_t4(store, bests, options);
  } else {
    write_as_wisdom(bests, options);
  }
  return ExitCode::ok;
}

}  // namespace

void add_db_export(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbExportFlags>();
  CLI::App* command =
      db.add_subcommand("export", "Write the bests as wisdom, JSON lines of text, or as T4 files");
  command->add_option("target", options->target, "File to write, - for stdout; with t4 a folder")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  add_force_option(*command, options->force);
  add_value(*command, "--kernel", options->kernels, "KERNEL",
            "Only bests of this kernel; may repeat")
      ->allow_extra_args(false);
  add_value(*command, "--device", options->devices, "IDENTITY",
            "Only bests of this device, as `kiln db info` prints it; may repeat")
      ->allow_extra_args(false);
  add_value(*command, "--format", options->format, "NAME",
            "wisdom, or t4: a file for each best, with the trials of its variant")
      ->check(CLI::IsMember({"wisdom", "t4"}))
      ->capture_default_str();
  add_database_option(*command, options->common);
  command->footer("docs/wisdom.md describes the formats. Exit code 1: there was nothing to write.");
  command->callback([options, &work] { work = [options] { return run_db_export(*options); }; });
}

}  // namespace kiln::cli
