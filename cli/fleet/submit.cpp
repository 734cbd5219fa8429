// `kiln fleet submit PLAN`: the problems of a plan as jobs; with --slurm also the workers.
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/fleet/command.hpp"
#include "cli/fleet/job_text.hpp"
#include "cli/fleet/slurm.hpp"
#include "cli/planned.hpp"
#include "cli/print.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "db/fleet.hpp"
#include "db/server/server_place.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct SubmitFlags {
  CommonOptions common;
  SearchSettings settings;
  fs::path plan;
  std::vector<std::string> kernels;
  std::vector<std::string> devices;
  bool warm_cache = false;
  int lives = 3;
  bool slurm = false;
  bool print = false;
  SlurmOptions array;
};

/// Longer jobs go first: the seconds of the budget, else its trials.
double weight_of(const SearchSettings& settings) {
  if (settings.seconds) return *settings.seconds;
  return settings.trials ? static_cast<double>(*settings.trials) : kDefaultSeconds;
}

std::vector<FleetJob> jobs_of(const std::vector<ReadySession>& sessions,
                              const SubmitFlags& options) {
  std::vector<std::string> devices = options.devices;
  if (devices.empty()) devices.emplace_back();
  std::vector<FleetJob> jobs;
  for (const ReadySession& session : sessions) {
    if (session.spec.command) {
      throw UsageError(
          fmt::format("'{}' is a program ([command]), which chooses its own devices; "
                      "`kiln sweep` runs it",
                      session.spec.name));
    }
    for (const std::string& device : devices) {
      jobs.push_back({.kernel = session.spec.name,
                      .spec_hash = content_hash(session.spec),
                      .problem = session.problem.text(),
                      .device = device,
                      .settings = settings_text(session.settings, options.warm_cache),
                      .weight = weight_of(session.settings)});
    }
  }
  return jobs;
}

/// The folders of the kernels that are not built in.
std::set<std::string> kernel_folders(const std::vector<ReadySession>& sessions) {
  std::set<std::string> folders;
  std::error_code error;
  for (const ReadySession& session : sessions) {
    if (session.spec.path.starts_with("built-in:")) continue;
    folders.insert(fs::weakly_canonical(session.spec.path, error).parent_path().string());
  }
  return folders;
}

/// The command of a worker, wherever the cluster runs it. Who submits the array is the operator of
/// its workers: they may run the kernels of the plan.
std::vector<std::string> worker_words(const std::vector<ReadySession>& sessions,
                                      const SubmitFlags& options) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  std::vector<std::string> words = {error ? "kiln" : self.string(),   "fleet",  "work", "--db",
                                    options.common.database.string(), "--quiet"};
  for (const std::string& folder : kernel_folders(sessions)) {
    words.emplace_back("--kernel-path");
    words.push_back(folder);
  }
  return words;
}

ExitCode run_fleet_submit(const SubmitFlags& options) {
  if (options.print && !options.slurm)
    throw UsageError("--print shows the script of --slurm (see kiln fleet submit --help)");
  const std::vector<ReadySession> sessions =
      ready_sessions(options.plan, options.kernels, options.common.library(), options.settings);
  const std::vector<FleetJob> jobs = jobs_of(sessions, options);
  std::string name = options.plan.stem().string();
  if (name.ends_with(".plan")) name.resize(name.size() - 5);  // of "nightly.plan.toml"
  std::string script;
  if (options.slurm) script = slurm_script(name, options.array, worker_words(sessions, options));
  if (options.print) {
    print_shown("{}", script);
    return ExitCode::ok;
  }
  const std::int64_t plan = Fleet(options.common.database).submit(name, jobs, options.lives);
  if (options.common.json) {
    print_shown("{{\"plan\": {}, \"jobs\": {}}}\n", plan, jobs.size());
  } else {
    print_shown("plan {}: {} submitted to {}\n", plan,
                counted(static_cast<std::int64_t>(jobs.size()), "job"),
                shown_place(options.common.database));
  }
  if (options.slurm) submit_to_slurm(script);
  return ExitCode::ok;
}

void add_slurm_options(CLI::App& command, SubmitFlags& options) {
  const char* group = "Slurm";
  command.add_flag("--slurm", options.slurm, "Also submit a job array of workers (sbatch)")
      ->group(group);
  command.add_flag("--print", options.print, "Print the script of --slurm; submit nothing")
      ->group(group);
  command.add_option("--tasks", options.array.tasks, "Workers of the array")
      ->type_name("COUNT")
      ->check(whole_number(1, 100'000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--at-once", options.array.at_once, "Workers that run at the same time")
      ->type_name("COUNT")
      ->check(whole_number(1, 100'000))
      ->group(group);
  command
      .add_option("--slurm-option", options.array.options,
                  "An option of sbatch, as --gres=gpu:1; may repeat")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->group(group);
}

}  // namespace

void add_fleet_submit(CLI::App& fleet, Work& work) {
  auto options = std::make_shared<SubmitFlags>();
  CLI::App* command = fleet.add_subcommand("submit", "Store the problems of a plan as jobs");
  command->add_option("plan", options->plan, "Plan file (docs/cli.md shows one)")
      ->required()
      ->type_name("FILE");
  add_server_option(*command, options->common);
  command
      ->add_option("--kernel", options->kernels,
                   "Only the sessions of this kernel of the plan; may repeat")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--device", options->devices,
                   "Devices that may take the jobs: the beginning of an identity, as cuda/nvidia;\n"
                   "may repeat, with a job for each (default: any device)")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command
      ->add_option("--lives", options->lives,
                   "Set a job aside after this many leases ended without their worker")
      ->type_name("COUNT")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command->add_flag("--warm-cache", options->warm_cache,
                    "Do not flush the last-level cache before each sample");
  add_setting_options(*command, options->settings);
  add_slurm_options(*command, *options);
  add_kernel_path_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "A job holds the name of its kernel and the hash of its spec, not the kernel: workers need\n"
      "the same folder under --kernel-path.\n"
      "\n"
      "Example:\n"
      "  kiln fleet submit nightly.plan.toml --db postgresql://host/kiln --slurm --tasks 8");
  command->callback([options, &work] { work = [options] { return run_fleet_submit(*options); }; });
}

}  // namespace kiln::cli
