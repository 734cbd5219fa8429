// `kiln db lock`: a text that pins which configs launchers choose.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/db/command.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/text_files.hpp"
#include "cli/units.hpp"
#include "core/suggest.hpp"
#include "db/store.hpp"
#include "wisdom/selection_lock.hpp"
#include "wisdom/shipped.hpp"

namespace kiln::cli {
namespace {

struct DbLockFlags {
  CommonOptions common;
  std::string target;
  std::vector<std::string> devices;
  bool no_shipped = false;
  bool hold_shipped = false;
  bool force = false;
};

bool is_wanted(const DbLockFlags& options, const BestRecord& best) {
  const bool is_named =
      options.devices.empty() || std::find(options.devices.begin(), options.devices.end(),
                                           best.key.device) != options.devices.end();
  return best.verdict != Verdict::none && is_named;
}

/// A device of which no best is known is a mistake in its name.
void require_known(const DbLockFlags& options, const std::vector<BestRecord>& stored) {
  std::set<std::string> known;
  for (const BestRecord& best : stored) known.insert(best.key.device);
  for (const std::string& kernel : shipped_kernels()) {
    for (const BestRecord& best : shipped_bests(kernel)) known.insert(best.key.device);
  }
  for (const std::string& name : options.devices) {
    if (known.contains(name)) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    throw InputError(fmt::format("there is no best of a device '{}'{} (there are: {})", name,
                                 did_you_mean(name, names), comma_list(names)));
  }
}

/// What a launcher with this database would choose from; the shipped rows where the lock is to hold
/// them.
std::vector<BestRecord> locked_bests(const DbLockFlags& options) {
  std::vector<BestRecord> bests = Store(options.common.database, Store::Mode::read).bests();
  if (!options.devices.empty()) require_known(options, bests);
  if (options.hold_shipped) {
    for (const std::string& kernel : shipped_kernels()) {
      for (BestRecord& best : shipped_bests(kernel)) bests.push_back(std::move(best));
    }
  }
  std::erase_if(bests, [&](const BestRecord& best) { return !is_wanted(options, best); });
  return bests;
}

ExitCode run_db_lock(const DbLockFlags& options) {
  if (options.no_shipped && options.hold_shipped) {
    throw UsageError("--no-shipped and --hold-shipped exclude each other");
  }
  const std::vector<BestRecord> bests = locked_bests(options);
  const bool names_shipped = !options.no_shipped && !options.hold_shipped;
  if (bests.empty() && !names_shipped) {
    throw DatabaseError(fmt::format("{}: holds no best to lock", options.common.database.string()));
  }
  const std::string text = write_selection_lock(bests, {names_shipped, options.devices});
  write_text_file(options.target, text, {"{\"kiln_lock\"", options.force});
  if (options.target != "-") {
    print_shown("{}: locked to {}{}; launchers follow it with KILN_LOCK={}\n", options.target,
                counted(static_cast<std::int64_t>(bests.size()), "best"),
                names_shipped ? " and the shipped ones" : "", options.target);
  }
  return ExitCode::ok;
}

}  // namespace

void add_db_lock(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbLockFlags>();
  CLI::App* command = db.add_subcommand("lock", "Pin which configs launchers choose, as a text");
  command->add_option("target", options->target, "File to write; - for stdout")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  add_value(*command, "--device", options->devices, "IDENTITY",
            "Only bests of this device, as `kiln db info` prints it; may repeat")
      ->allow_extra_args(false);
  add_force_option(*command, options->force);
  command->add_flag("--no-shipped", options->no_shipped,
                    "Lock to the database alone, without the wisdom that is part of Kiln");
  command->add_flag("--hold-shipped", options->hold_shipped,
                    "Hold the rows that are part of Kiln (megabytes) instead of naming them by\n"
                    "their hash: for jobs whose programs have several versions of Kiln");
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  command->callback([options, &work] { work = [options] { return run_db_lock(*options); }; });
}

}  // namespace kiln::cli
