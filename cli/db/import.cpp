// `kiln db import`: wisdom into the database, each best held against the spec of its kernel; or
// what another tuner recorded, where its tunables are those of a kernel.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/db/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/recorded_files.hpp"
#include "cli/units.hpp"
#include "db/server/server_place.hpp"
#include "db/store.hpp"
#include "interchange/foreign_groups.hpp"
#include "interchange/recorded_trials.hpp"
#include "interchange/t4_export.hpp"
#include "wisdom/wisdom.hpp"
#include "wisdom/wisdom_check.hpp"

namespace kiln::cli {
namespace {

struct DbImportFlags {
  CommonOptions common;
  std::vector<std::string> files;
  bool skip_bad = false;
  std::string kernel;  ///< not empty: the files are another tuner's
  std::string problem;
  std::string device = "auto";
};

/// What the files hold that the specs agree with, and what is wrong with the rest.
struct Import {
  std::vector<FinishedSession> sessions;
  std::vector<std::string> bad;
  std::vector<std::string> notes;  ///< what was taken for granted
};

/// A file of another tuner, given without --kernel, would be read as wisdom: hundreds of bad lines.
void refuse_foreign(const std::string& file, const std::string& text) {
  const std::string_view format = foreign_format(text);
  if (format.empty() || text.starts_with("{\"kiln_wisdom\"")) return;
  throw InputError({file, 0, 0}, fmt::format("this is {}: say whose tunables it holds with "
                                             "--kernel and which problem it is with --problem",
                                             format));
}

class Importer {
 public:
  explicit Importer(const CommonOptions& common) : library_(common.library()) {}

  void read(const std::string& file) {
    const std::string given = read_maybe_gzip(file);
    const std::optional<std::string> inside_t4 = wisdom_in_t4(given);
    if (!inside_t4) refuse_foreign(file, given);
    WisdomText text = inside_t4 ? read_wisdom(*inside_t4, file + ": metadata.kiln_wisdom")
                                : read_wisdom(given, file);
    for (std::string& line : text.bad) import_.bad.push_back(std::move(line));
    for (WisdomEntry& entry : text.entries) add(entry);
  }

  /// What another tuner recorded of `kernel`: one best a problem.
  void read_foreign(const DbImportFlags& options, const DeviceInfo& device) {
    const KernelSpec spec = library_.load(options.kernel);
    std::vector<RecordedTrials> files;
    for (const std::string& file : options.files)
      files.push_back(read_recorded_trials(read_maybe_gzip(file), file));
    const ForeignBests found = bests_of_files(spec, options.problem, device, std::move(files));
    import_.bad.insert(import_.bad.end(), found.bad.begin(), found.bad.end());
    import_.notes.insert(import_.notes.end(), found.notes.begin(), found.notes.end());
    for (const BestRecord& best : found.bests) {
      import_.sessions.push_back(imported_session(spec, best));
    }
  }

  Import finish() { return std::move(import_); }

 private:
  void add(WisdomEntry& entry) {
    try {
      const KernelSpec& spec = spec_of(entry.best.key.kernel);
      check_wisdom(spec, entry.best);
      import_.sessions.push_back(imported_session(spec, entry.best));
    } catch (const Error& error) {
      import_.bad.push_back(fmt::format("{}: {}", to_text(entry.where), error.what()));
    }
  }

  // By name only: a wisdom file does not get to say which folders are read.
  const KernelSpec& spec_of(const std::string& kernel) {
    const auto known = specs_.find(kernel);
    if (known != specs_.end()) return known->second;
    if (kernel.find('/') != std::string::npos || kernel.starts_with(".")) {
      throw InputError(fmt::format("key 'kernel' must be the name of a kernel, not '{}'", kernel));
    }
    return specs_.emplace(kernel, library_.load(kernel)).first->second;
  }

  KernelLibrary library_;
  std::map<std::string, KernelSpec> specs_;
  Import import_;
};

[[noreturn]] void refuse(const std::vector<std::string>& bad) {
  std::string message = bad.front();
  if (bad.size() > 1)
    message += fmt::format("\nand {} more",
                           counted(static_cast<std::int64_t>(bad.size() - 1), "bad line"));
  throw InputError(message + "\nnothing was imported; --skip-bad imports the rest");
}

void print(const DbImportFlags& options, const Import& import, std::size_t added) {
  const std::size_t present = import.sessions.size() - added;
  if (options.common.json) {
    print_shown("{}", json_output({{"imported", added},
                                   {"present", present},
                                   {"bad", import.bad},
                                   {"notes", import.notes}}));
    return;
  }
  for (const std::string& line : import.notes) print_shown(stderr, "kiln: warning: {}\n", line);
  for (const std::string& line : import.bad) print_shown(stderr, "kiln: warning: {}\n", line);
  print_shown("{}: {} imported, {} there before, {} left out\n", options.common.database.string(),
              counted(static_cast<std::int64_t>(added), "best"), present,
              counted(static_cast<std::int64_t>(import.bad.size()), "bad line"));
}

/// A device that the database knows by its identity, else one that is here.
DeviceInfo known_device(const DbImportFlags& options) {
  if (may_exist(options.common.database)) {
    for (const SessionRecord& session :
         Store(options.common.database, Store::Mode::read).sessions()) {
      if (session.key.device == options.device) return session.device_info;
    }
  }
  return choose_device(options.device);
}

ExitCode run_db_import(const DbImportFlags& options) {
  Importer importer(options.common);
  if (options.kernel.empty() != options.problem.empty()) {
    throw UsageError("--kernel and --problem belong together (see kiln db import --help)");
  }
  if (options.kernel.empty()) {
    for (const std::string& file : options.files) importer.read(file);
  } else {
    const DeviceInfo device = known_device(options);
    importer.read_foreign(options, device);
  }
  const Import import = importer.finish();
  if (!import.bad.empty() && !options.skip_bad) refuse(import.bad);
  Store store(options.common.database, Store::Mode::write);
  print(options, import, store.add_sessions(import.sessions));
  return import.sessions.empty() ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_db_import(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbImportFlags>();
  CLI::App* command = db.add_subcommand("import", "Read wisdom into the database");
  command
      ->add_option("files", options->files,
                   "Files that `kiln db export` wrote, in either format; with\n--kernel, files of "
                   "another tool")
      ->required()
      ->type_name("FILE");
  add_value(*command, "--kernel", options->kernel, "KERNEL",
            "The files are another tuner's (caches of Kernel Tuner, T4, results of KTT) and\n"
            "their tunables those of a variant of this kernel, which is given by its name or\n"
            "its folder");
  add_value(*command, "--problem", options->problem, "TEXT",
            "With --kernel: the problem; {0}, {1}, ... stand for the sizes in the file,\n"
            "{NAME} for the tunable of that name");
  add_value(*command, "--device", options->device, "DEVICE",
            "With --kernel: where it was measured, as `kiln db info` or `kiln devices`\n"
            "prints it")
      ->capture_default_str();
  command->add_flag("--skip-bad", options->skip_bad, "Skip bad lines and import the rest");
  add_common_options(*command, options->common);
  command->footer(
      "Each best is held against the spec of its kernel. Importing the same again changes "
      "nothing.\n"
      "docs/wisdom.md describes the format, docs/wisdom.md the files of other tools,\n"
      "which may be compressed by gzip.");
  command->callback([options, &work] { work = [options] { return run_db_import(*options); }; });
}

}  // namespace kiln::cli
