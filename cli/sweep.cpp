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
#include "cli/planned.hpp"
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

/// A session of the sweep, and the request to retire once it is tuned.
struct SweptSession {
  ReadySession ready;
  std::optional<Request> request = {};
};

std::vector<SweptSession> planned_sessions(const SweepFlags& options) {
  std::vector<SweptSession> sessions;
  for (ReadySession& ready : ready_sessions(options.plan, options.kernels, options.common.library(),
                                            options.search.settings)) {
    sessions.push_back({std::move(ready)});
  }
  return sessions;
}

// The open requests of the device, the most often asked for first. One that no spec reads is left
// out with a warning: it may be of an application whose kernels are not here.
std::vector<SweptSession> requested_sessions(const SweepFlags& options, const DeviceInfo& device) {
  const std::string file = options.requests.string();
  if (file.empty()) {
    throw UsageError(requests_trouble(options.requests) + "; name their file with --requests");
  }
  const RequestList list =
      read_requests(read_text_file(options.requests, "requests as launchers record them"), file);
  std::vector<std::string> warnings = list.bad;
  const KernelLibrary library = options.common.library();
  std::vector<SweptSession> sessions;
  for (const Request& request : list.open) {
    if (current_identity(request.device, device) != identity_of(device)) continue;
    try {
      KernelSpec spec = library.load(request.kernel);
      Problem problem = Problem::parse(spec, request.problem);
      check_names(options.search.settings, spec);
      sessions.push_back({{std::move(spec), std::move(problem), options.search.settings}, request});
    } catch (const InputError& error) {
      warnings.push_back(
          fmt::format("{}: {} {}: {}", file, request.kernel, request.problem, error.what()));
    }
  }
  for (const std::string& warning : warnings) fmt::print(stderr, "kiln: warning: {}\n", warning);
  return sessions;
}

bool found_best(const SessionSummary& summary) { return summary.result && summary.result->best; }

/// Adds a summary for each session that was begun: all of them, or those until a signal came, or
/// until the error that it throws.
void run_sessions(const std::vector<SweptSession>& sessions, const DeviceInfo& device, Store& store,
                  const SweepFlags& options, std::vector<SessionSummary>& summaries) {
  for (const SweptSession& session : sessions) {
    const ReadySession& ready = session.ready;
    summaries.push_back(summarise(ready.spec, ready.problem, device_of(ready.spec, device)));
    const std::string title = fmt::format("[{}/{}]", summaries.size(), sessions.size());
    run_ready(ready, title, device_of(ready.spec, device), store, options.search, summaries.back());
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
  std::vector<SweptSession> sessions;
  if (!options.requested) sessions = planned_sessions(options);
  std::vector<const KernelSpec*> specs;
  for (const SweptSession& session : sessions) specs.push_back(&session.ready.spec);
  const DeviceInfo device = choose_device(specs, options.device);
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
