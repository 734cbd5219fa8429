// `kiln sweep PLAN`: many sessions from one file, or of the problems that launchers asked for in
// vain; nothing that fails in one of them ends the others, and a device that is away is waited for.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/failures.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/search_options.hpp"
#include "cli/session_report.hpp"
#include "cli/text_files.hpp"
#include "cli/text_layout.hpp"
#include "core/suggest.hpp"
#include "core/transient_error.hpp"
#include "db/requests.hpp"
#include "tuner/device_ceilings.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct SweepFlags {
  CommonOptions common;
  SearchOptions search;
  fs::path plan;
  std::vector<std::string> kernels;  ///< only these of the plan; empty: all
  std::string device = "auto";
  bool requested = false;  ///< tune recorded requests instead of a plan
  fs::path requests;       ///< file of the requests
  bool markdown = false;
  bool ceilings = false;
};

/// A planned session with everything a user wrote already checked.
struct ReadySession {
  KernelSpec spec;
  Problem problem;
  SearchSettings settings;
  std::optional<Request> request = {};  ///< to retire once it is tuned
};

ReadySession prepare(const PlannedSession& planned, const KernelLibrary& library,
                     const SweepFlags& options) {
  const bool is_path =
      planned.kernel.find('/') != std::string::npos || planned.kernel.starts_with(".");
  const fs::path beside_plan = options.plan.parent_path() / planned.kernel;
  try {
    KernelSpec spec = library.load(is_path ? beside_plan.string() : planned.kernel);
    Problem problem = Problem::parse(spec, planned.problem);
    SearchSettings settings = merge(options.search.settings, planned.settings);
    check_names(settings, spec);
    return {std::move(spec), std::move(problem), std::move(settings)};
  } catch (const InputError& error) {
    throw InputError(planned.where, error.what());
  }
}

// Leaves the sessions of the kernels that --kernel names.
void keep_kernels(std::vector<ReadySession>& sessions, const SweepFlags& options) {
  if (options.kernels.empty()) return;
  std::vector<std::string> there;
  for (const ReadySession& session : sessions) {
    const std::string& name = session.spec.name;
    if (std::find(there.begin(), there.end(), name) == there.end()) there.push_back(name);
  }
  for (const std::string& name : options.kernels) {
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    throw InputError(fmt::format("{}: the plan has no kernel '{}'{} (it has: {})",
                                 options.plan.string(), name, did_you_mean(name, there),
                                 comma_list(there)));
  }
  std::erase_if(sessions, [&](const ReadySession& session) {
    return std::find(options.kernels.begin(), options.kernels.end(), session.spec.name) ==
           options.kernels.end();
  });
}

std::vector<ReadySession> prepare_all(const SweepFlags& options) {
  const SweepPlan plan = parse_plan(
      read_text_file(options.plan, "a plan file (docs/cli.md shows one)"), options.plan.string());
  const KernelLibrary library = options.common.library();
  std::vector<ReadySession> sessions;
  for (const PlannedSession& planned : plan.sessions) {
    sessions.push_back(prepare(planned, library, options));
  }
  keep_kernels(sessions, options);
  return sessions;
}

// The open requests of the device, the most often asked for first. One that no spec reads is left
// out with a warning: it may be of an application whose kernels are not here.
std::vector<ReadySession> requested_sessions(const SweepFlags& options, const DeviceInfo& device) {
  const std::string file = options.requests.string();
  if (file.empty()) {
    throw UsageError(requests_trouble(options.requests) + "; name their file with --requests");
  }
  const RequestList list =
      read_requests(read_text_file(options.requests, "requests as launchers record them"), file);
  std::vector<std::string> warnings = list.bad;
  const KernelLibrary library = options.common.library();
  std::vector<ReadySession> sessions;
  for (const Request& request : list.open) {
    if (current_identity(request.device, device) != identity_of(device)) continue;
    try {
      KernelSpec spec = library.load(request.kernel);
      Problem problem = Problem::parse(spec, request.problem);
      check_names(options.search.settings, spec);
      sessions.push_back({std::move(spec), std::move(problem), options.search.settings, request});
    } catch (const InputError& error) {
      warnings.push_back(
          fmt::format("{}: {} {}: {}", file, request.kernel, request.problem, error.what()));
    }
  }
  for (const std::string& warning : warnings) fmt::print(stderr, "kiln: warning: {}\n", warning);
  return sessions;
}

/// Nothing after it could be run or stored either.
bool ends_sweep(const Error& error) {
  return dynamic_cast<const DatabaseError*>(&error) != nullptr ||
         dynamic_cast<const TransientError*>(&error) != nullptr;
}

void run_planned(const ReadySession& session, const std::string& title, const DeviceInfo& device,
                 Store& store, const SweepFlags& options, SessionSummary& summary) {
  const TuneOptions tune_with = tune_options(options.search, session.settings);
  ProgressLine progress(
      fmt::format("{} {} {}", title, summary.kernel, summary.problem), tune_with.budget,
      options.search.quiet ? ProgressLine::Mode::quiet : ProgressLine::suited_mode());
  try {
    summary.result =
        tune_patiently({session.spec, session.problem, device.backend, device.ordinal, tune_with},
                       store, progress, patience_of(options.search));
    summary.trials = store.trials(summary.result->id);
  } catch (const Error& error) {
    summary.error = error.what();
    if (ends_sweep(error)) throw;
    progress.on_warning(summary.error);
  } catch (const std::exception& error) {
    summary.error = fmt::format("defect of Kiln: {}", error.what());
    progress.on_warning(summary.error);
  }
}

bool found_best(const SessionSummary& summary) { return summary.result && summary.result->best; }

/// Adds a summary for each session that was begun: all of them, or those until a signal came, or
/// until the error that it throws.
void run_sessions(const std::vector<ReadySession>& sessions, const DeviceInfo& device, Store& store,
                  const SweepFlags& options, std::vector<SessionSummary>& summaries) {
  for (const ReadySession& session : sessions) {
    summaries.push_back(summarise(session.spec, session.problem, device));
    const std::string title = fmt::format("[{}/{}]", summaries.size(), sessions.size());
    run_planned(session, title, device, store, options, summaries.back());
    if (session.request && found_best(summaries.back())) {
      retire_request(options.requests, *session.request);
    }
    if (stop_on_signals()) return;
  }
}

ReportFormat format_of(const SweepFlags& options) {
  if (options.common.json) return ReportFormat::json;
  return options.markdown ? ReportFormat::markdown : ReportFormat::text;
}

/// Below the table: what is not right in a session that has its row.
void print_remarks(const std::vector<SessionSummary>& summaries, const Screen& screen) {
  std::vector<std::string> lines;
  for (const SessionSummary& summary : summaries) {
    for (const std::string& line : failed_variants(summary.trials))
      lines.push_back(fmt::format("{} {}: {}", summary.kernel, summary.problem, line));
  }
  for (std::string& line : doubts(summaries)) lines.push_back(std::move(line));
  if (!lines.empty()) fmt::print("\n");
  for (const std::string& line : lines) fmt::print("{}", paragraph(line, screen.width));
}

bool was_interrupted(const SessionSummary& summary) {
  if (!summary.result) return stop_on_signals();
  return summary.result->end == SessionEnd::interrupted;
}

ExitCode run_sweep(const SweepFlags& options) {
  if (options.markdown && options.common.json) {
    throw UsageError("--markdown and --json exclude each other (see kiln sweep --help)");
  }
  if (options.requested != options.plan.empty()) {
    throw UsageError("expected either a plan or --requested (see kiln sweep --help)");
  }
  if (options.requested && !options.kernels.empty()) {
    throw UsageError("--requested and --kernel exclude each other (see kiln sweep --help)");
  }
  std::vector<ReadySession> sessions;
  if (!options.requested) sessions = prepare_all(options);
  const DeviceInfo device = choose_device(options.device);
  if (options.requested) {
    sessions = requested_sessions(options, device);
    if (sessions.empty()) {
      fmt::print("{}: no open request of {}\n", options.requests.string(), identity_of(device));
      return ExitCode::ok;
    }
  }
  Store store(options.common.database, Store::Mode::write);
  std::optional<Ceilings> ceilings;
  if (options.ceilings) ceilings = measure_device_ceilings(device.backend, device.ordinal);

  std::vector<SessionSummary> summaries;
  std::exception_ptr fatal;
  try {
    run_sessions(sessions, device, store, options, summaries);
  } catch (const TransientError&) {
    if (!stop_on_signals()) fatal = std::current_exception();
  } catch (const Error&) {
    fatal = std::current_exception();
  }
  // What was done comes first, whatever ended it.
  const Screen screen = screen_of(STDOUT_FILENO);
  fmt::print("{}", report(summaries, ceilings, format_of(options), screen));
  if (!options.common.json) print_remarks(summaries, screen);
  if (fatal) std::rethrow_exception(fatal);
  if (summaries.size() < sessions.size() || was_interrupted(summaries.back())) {
    print_interrupted(fmt::format("session {} of {}", summaries.size(), sessions.size()),
                      options.search.fresh);
    return interrupted_exit_code();
  }
  const bool all_found = std::all_of(summaries.begin(), summaries.end(), found_best);
  return all_found ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_sweep_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<SweepFlags>();
  CLI::App* command =
      app.add_subcommand("sweep", "Run the sessions of a plan file and print what they found");
  command->add_option("plan", options->plan, "Plan file (docs/cli.md shows one)")
      ->type_name("FILE");
  command
      ->add_option("--kernel", options->kernels,
                   "Only the sessions of this kernel of the plan; may repeat")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--requested", options->requested,
                    "Instead of a plan: tune what launchers asked for and no session has tuned,\n"
                    "the most often asked for first (docs/launcher.md)");
  options->requests = requested_path().value_or(default_requests_path());
  command
      ->add_option("--requests", options->requests,
                   "File of the requests (default: $KILN_RECORD_REQUESTS, else requests.jsonl\n"
                   "beside the default database)")
      ->type_name("FILE");
  add_device_option(*command, options->device);
  command->add_flag("--ceilings", options->ceilings,
                    "Measure what the device can do first, and print each best's share of it");
  command->add_flag("--markdown", options->markdown, "Print the table as Markdown");
  constexpr std::int64_t kPatience = 3600;  // seconds: a sweep may run for a week, unattended
  add_search_options(*command, options->search, kPatience);
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "What the command line says of budget and search goes before what the plan says.\n"
      "The whole plan is checked before the first session starts. A session that fails is a row\n"
      "of the table; the others go on, and the exit code is 1. While the device is away, or a "
      "disk\n"
      "is full (the database's, or that of temporary files), the sweep waits.\n"
      "\n"
      "Example:\n"
      "  kiln sweep examples/demo.plan.toml --device opencl --markdown");
  command->callback([options, &work] { work = [options] { return run_sweep(*options); }; });
}

}  // namespace kiln::cli
