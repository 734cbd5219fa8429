// `kiln fleet submit PLAN`: the problems of a plan as jobs; with --slurm also the workers.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/checks.hpp"
#include "cli/fleet/command.hpp"
#include "cli/fleet/job_text.hpp"
#include "cli/options.hpp"
#include "cli/planned.hpp"
#include "cli/print.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "core/program.hpp"
#include "core/shell_word.hpp"
#include "db/fleet.hpp"
#include "db/server/server_place.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct SlurmOptions {
  int tasks = 1;                     ///< of the array: workers
  int at_once = 0;                   ///< tasks that run at the same time; 0: all
  std::vector<std::string> options;  ///< of sbatch, as "--gres=gpu:1"
};

// One line of the script: a line end would begin a command.
std::string checked_option(const std::string& option) {
  if (option.starts_with("-") && option.find('\n') == std::string::npos) return option;
  throw UsageError(fmt::format(
      "--slurm-option: expected an option of sbatch, as --gres=gpu:1, not '{}'", option));
}

/// The script for sbatch. `words`: the command of a task.
std::string slurm_script(const std::string& name, const SlurmOptions& options,
                         const std::vector<std::string>& words) {
  std::string plain;
  for (const char c : name) plain += c == '\n' || c == '\r' ? ' ' : c;
  std::string script = fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=1-{}{}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "# Two minutes before the end: the session is stored and the lease returned.\n"
      "#SBATCH --signal=B:TERM@120\n",
      shell_word("kiln-" + plain), options.tasks,
      options.at_once > 0 ? fmt::format("%{}", options.at_once) : "");
  for (const std::string& option : options.options)
    script += fmt::format("#SBATCH {}\n", checked_option(option));
  script += "exec";
  for (const std::string& word : words) script += ' ' + shell_word(word);
  return script + '\n';
}

/// Hands the script to sbatch, which prints the number of the array. Throws Error (exit code 1) if
/// there is no sbatch or it refuses.
void submit_to_slurm(const std::string& script) {
  const Ended ended = run_program({.words = {"sbatch"}, .folder = {}, .input = script});
  print_shown("{}", ended.out);
  if (ended.is_ok()) return;
  constexpr int kNotFound = 127;
  if (ended.exit_code == kNotFound) {
    throw Error(
        ExitCode::failed,
        "there is no sbatch on this host; --print shows the script, for a host of the cluster");
  }
  throw Error(ExitCode::failed, fmt::format("sbatch refused the job array ({}: {}); the jobs are "
                                            "submitted: `kiln fleet work` tunes them anywhere",
                                            ended.ending(), last_lines(ended.err, 3)));
}

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
      throw UsageError(fmt::format(
          "'{}' is a program ([command]), which chooses its own devices; `kiln sweep` runs it",
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
  add_value(command, "--tasks", options.array.tasks, "COUNT", "Workers of the array")
      ->check(whole_number(1, 100'000))
      ->capture_default_str()
      ->group(group);
  add_value(command, "--at-once", options.array.at_once, "COUNT",
            "Workers that run at the same time")
      ->check(whole_number(1, 100'000))
      ->group(group);
  add_value(command, "--slurm-option", options.array.options, "TEXT",
            "An option of sbatch, as --gres=gpu:1; may repeat")
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
  add_value(*command, "--kernel", options->kernels, "NAME",
            "Only the sessions of this kernel of the plan; may repeat")
      ->allow_extra_args(false);
  add_value(*command, "--device", options->devices, "TEXT",
            "Devices that may take the jobs: the beginning of an identity, as cuda/nvidia;\n"
            "may repeat, with a job for each (default: any device)")
      ->allow_extra_args(false);
  add_value(*command, "--lives", options->lives, "COUNT",
            "Set a job aside after this many leases ended without their worker")
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
