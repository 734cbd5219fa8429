// `kiln sweep PLAN`: many sessions from one file, or of the problems that launchers asked for in
// vain; nothing that fails in one of them ends the others, and a device that is away is waited for.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/help_text.hpp"
#include "cli/interrupt.hpp"
#include "cli/known_bests.hpp"
#include "cli/options.hpp"
#include "cli/planned.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/recorded_calls.hpp"
#include "cli/search_options.hpp"
#include "cli/session_report.hpp"
#include "cli/shard.hpp"
#include "cli/sweep_devices.hpp"
#include "cli/text_files.hpp"
#include "cli/text_layout.hpp"
#include "cli/trust.hpp"
#include "core/command_spec.hpp"
#include "core/input_file.hpp"
#include "core/metrics.hpp"
#include "core/transient_error.hpp"
#include "db/store.hpp"
#include "lookup/call_records.hpp"
#include "lookup/lookup.hpp"
#include "tuner/device/device_ceilings.hpp"

namespace kiln::cli {
namespace fs = std::filesystem;
namespace {

struct SweepFlags {
  CommonOptions common;
  SearchOptions search;
  fs::path plan;
  std::vector<std::string> kernels;  ///< only these of the plan; empty: all
  std::string device = "auto";
  bool requested = false;  ///< tune recorded calls that were not exact instead of a plan
  fs::path requests;       ///< file of these calls
  fs::path calls;          ///< record of `kiln run`: tune its products instead of a plan
  std::string shard;       ///< "3/8": only this part of the plan; empty: all of it
  bool markdown = false;
  bool ceilings = false;
};

std::vector<ReadySession> planned_sessions(const SweepFlags& options) {
  const Shard shard = options.shard.empty() ? Shard{} : parse_shard(options.shard);
  std::vector<ReadySession> sessions;
  for (ReadySession& ready : ready_sessions(options.plan, options.kernels, options.common.library(),
                                            options.search.settings)) {
    if (!has(shard, ready.spec, ready.problem)) continue;
    require_trust(ready.spec, options.common);
    sessions.push_back(std::move(ready));
  }
  return sessions;
}

/// What launchers called without an exact match; warns of lines that cannot be read.
std::vector<CallRecord> requested_calls(const SweepFlags& options) {
  if (options.requests.empty()) {
    throw UsageError("--requested: name the file that KILN_STATISTICS named with --requests");
  }
  const std::string file = options.requests.string();
  const CallList list =
      read_calls(read_input(options.requests, {"calls as launchers record them", 64 * kMiB}), file);
  for (const std::string& warning : list.bad) print_shown(stderr, "kiln: warning: {}\n", warning);
  return untuned(list.records);
}

// Those of the device that the database has no best for, the most often called first. One that no
// spec reads is left out with a warning: it may be of an application whose kernels are not here.
std::vector<ReadySession> requested_sessions(const std::vector<CallRecord>& calls,
                                             const SweepFlags& options, const DeviceInfo& device) {
  const KernelLibrary library = options.common.library();
  const RowSources sources{.database = options.common.database, .shipped = false};
  const std::optional<Store> store = open_rows(sources);
  std::vector<ReadySession> sessions;
  for (const CallRecord& call : calls) {
    if (current_identity(call.device, device) != identity_of(device)) continue;
    try {
      KernelSpec spec = library.load(call.kernel);
      require_trust(spec, options.common);
      Problem problem = Problem::parse(spec, call.problem);
      const std::vector<BestRecord> rows =
          known_bests(sources, store, spec.name, std::string(kTimeObjective));
      const Result<Match> match = lookup({spec, problem, device}, rows);
      if (match && match->grade == Grade::exact) continue;
      check_names(options.search.settings, spec);
      sessions.push_back({std::move(spec), std::move(problem), options.search.settings});
    } catch (const InputError& error) {
      print_shown(stderr, "kiln: warning: {}: {} {}: {}\n", options.requests.string(), call.kernel,
                  call.problem, error.what());
    }
  }
  return sessions;
}

/// The products of a record, the most expensive first. One that `matmul` does not have is left out.
std::vector<ReadySession> called_sessions(const SweepFlags& options) {
  const KernelSpec spec = options.common.library().load("matmul");
  check_names(options.search.settings, spec);
  const RecordedProgram program = read_record(options.calls);
  if (!program.library_path.empty())
    ::setenv("KILN_CUBLAS_PATH", program.library_path.c_str(), /*overwrite=*/0);
  std::vector<ReadySession> sessions;
  for (const RecordedCall& call : program.calls) {
    try {
      sessions.push_back({spec, Problem::parse(spec, call.problem), options.search.settings});
    } catch (const InputError& error) {
      print_shown(stderr, "kiln: warning: {}: {}\n", options.calls.string(), error.what());
    }
  }
  return sessions;
}

ReportFormat format_of(const SweepFlags& options) {
  if (options.common.json) return ReportFormat::json;
  return options.markdown ? ReportFormat::markdown : ReportFormat::text;
}

/// Below the table: what is not right in a session that has its row.
void print_remarks(const std::vector<SessionSummary>& summaries, const Screen& screen) {
  std::vector<std::string> lines;
  for (const SessionSummary& summary : summaries) {
    for (const std::string& line : trouble_lines(summary))
      lines.push_back(fmt::format("{} {}: {}", summary.kernel, summary.problem, line));
  }
  for (std::string& line : doubts(summaries)) lines.push_back(std::move(line));
  if (!lines.empty()) print_shown("\n");
  for (const std::string& line : lines) print_shown("{}", paragraph(line, screen.width));
}

/// One table for each class of devices, with its name above where there are several.
void print_reports(const std::vector<DeviceClass>& classes, const SweepFlags& options,
                   const std::optional<Ceilings>& ceilings) {
  const Screen screen = screen_of(STDOUT_FILENO);
  std::vector<SessionSummary> all;
  for (const DeviceClass& group : classes) {
    std::vector<SessionSummary> begun;
    for (const auto& summary : group.summaries) {
      if (summary) begun.push_back(*summary);
    }
    std::copy(begun.begin(), begun.end(), std::back_inserter(all));
    if (begun.empty() || options.common.json) continue;
    if (all.size() > begun.size()) print_shown("\n");
    if (classes.size() > 1) print_shown("{}:\n\n", group.name());
    print_shown("{}", report(begun, ceilings, format_of(options), screen));
  }
  if (options.common.json) {
    print_shown("{}", report(all, ceilings, ReportFormat::json, screen));
  } else {
    print_remarks(all, screen);
  }
}

/// Kernels for every class of devices; programs for this machine.
std::vector<DeviceClass> dealt_classes(std::vector<DeviceClass> classes, DeviceClass& programs,
                                       const std::vector<ReadySession>& planned,
                                       const SweepFlags& options) {
  if (options.requested) {
    const std::vector<CallRecord> calls = requested_calls(options);
    for (DeviceClass& group : classes)
      group.sessions = requested_sessions(calls, options, group.devices.front());
    return classes;
  }
  for (const ReadySession& session : planned) {
    if (session.spec.command) {
      programs.sessions.push_back(session);
    } else {
      for (DeviceClass& group : classes) group.sessions.push_back(session);
    }
  }
  return classes;
}

std::size_t count_sessions(const std::vector<DeviceClass>& classes) {
  std::size_t count = 0;
  for (const DeviceClass& group : classes) count += group.sessions.size();
  return count;
}

bool all_found_bests(const std::vector<DeviceClass>& classes) {
  return std::all_of(classes.begin(), classes.end(), [](const DeviceClass& group) {
    return std::all_of(group.summaries.begin(), group.summaries.end(),
                       [](const auto& summary) { return summary && found_best(*summary); });
  });
}

ExitCode sweep_on(const std::vector<DeviceInfo>& devices, const std::vector<ReadySession>& planned,
                  const SweepFlags& options) {
  std::vector<DeviceClass> classes = classes_of(devices);
  if (options.ceilings && classes.size() > 1)
    throw UsageError("--ceilings needs devices of one kind; name them with --device");
  std::vector<DeviceClass> programs = {{{command_device()}, {}}};
  classes = dealt_classes(std::move(classes), programs.front(), planned, options);
  if (options.requested && count_sessions(classes) == 0) {
    print_shown("{}: nothing to tune on {}\n", options.requests.string(),
                devices.size() > 1 ? "these devices" : identity_of(devices.front()));
    return ExitCode::ok;
  }
  Store store = open_store(options.common, options.search);
  std::optional<Ceilings> ceilings;
  if (options.ceilings)
    ceilings = measure_device_ceilings(devices.front().backend, devices.front().ordinal);
  SweepEnd end = sweep_devices(classes, store, options.search);
  // Programs choose their own devices: they run when nothing else does.
  if (!programs.front().sessions.empty()) {
    const bool may_run = end.error == nullptr && !stop_on_signals();
    const SweepEnd last = may_run ? sweep_devices(programs, store, options.search)
                                  : SweepEnd{programs.front().sessions.size(), nullptr};
    end.left += last.left;
    if (last.error) end.error = last.error;
    classes.push_back(std::move(programs.front()));
  }
  print_reports(classes, options, ceilings);
  if (end.left > 0 && stop_on_signals()) {
    print_interrupted(
        fmt::format("a sweep with {} of {} sessions left", end.left, count_sessions(classes)),
        options.search.fresh);
    return interrupted_exit_code();
  }
  if (end.left > 0 && end.error) std::rethrow_exception(end.error);
  return all_found_bests(classes) ? ExitCode::ok : ExitCode::failed;
}

ExitCode run_sweep(const SweepFlags& options) {
  if (options.markdown && options.common.json) {
    throw UsageError("--markdown and --json exclude each other (see kiln sweep --help)");
  }
  const int sources = (options.plan.empty() ? 0 : 1) + (options.requested ? 1 : 0) +
                      (options.calls.empty() ? 0 : 1);
  if (sources != 1) {
    throw UsageError("expected either a plan, --requested or --calls (see kiln sweep --help)");
  }
  if (options.requested && !options.kernels.empty()) {
    throw UsageError("--requested and --kernel exclude each other (see kiln sweep --help)");
  }
  if (options.requested && !options.shard.empty()) {
    throw UsageError("--requested and --shard exclude each other (see kiln sweep --help)");
  }
  std::vector<ReadySession> sessions;
  if (!options.plan.empty()) sessions = planned_sessions(options);
  if (!options.calls.empty()) sessions = called_sessions(options);
  if (sessions.empty() && !options.shard.empty()) {
    const Store empty(options.common.database, Store::Mode::write);  // for the merge
    print_shown("{}", options.common.json
                          ? report({}, std::nullopt, ReportFormat::json)
                          : fmt::format("shard {} has no session of this plan\n", options.shard));
    return ExitCode::ok;
  }
  return sweep_on(choose_devices(specs_of(sessions), options.device), sessions, options);
}

}  // namespace

void add_sweep_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<SweepFlags>();
  CLI::App* command =
      app.add_subcommand("sweep", "Run the sessions of a plan file and print what they found");
  add_value(*command, "plan", options->plan, "FILE", "Plan file (docs/cli.md shows one)");
  add_value(*command, "--kernel", options->kernels, "KERNEL",
            "Only the sessions of this kernel of the plan; may repeat")
      ->allow_extra_args(false);
  add_value(*command, "--shard", options->shard, "K/N",
            "Only part K of N of the plan, for N hosts with a database each; `kiln db merge`\n"
            "joins the databases (docs/fleet.md)")
      ->group(kMoreOptions);
  command
      ->add_flag("--requested", options->requested,
                 "Instead of a plan: tune the problems that launchers called without an exact\n"
                 "match and that the database still lacks, the most called first (docs/lookup.md)")
      ->group(kMoreOptions);
  add_value(*command, "--calls", options->calls, "FILE",
            "Instead of a plan: tune the products that `kiln run --record` saw, the most\n"
            "expensive first, against the library that was called")
      ->group(kMoreOptions);
  options->requests = call_records_path().value_or("");
  add_value(*command, "--requests", options->requests, "FILE",
            "File of these calls, as KILN_STATISTICS named it (default: $KILN_STATISTICS)")
      ->group(kMoreOptions);
  add_value(*command, "--device", options->device, "DEVICE",
            "auto, a backend, or a device as `kiln devices` names it; all, or several names\n"
            "with commas between them: one session on each at the same time")
      ->capture_default_str();
  command->add_flag("--ceilings", options->ceilings,
                    "Measure what the device can do first, and print each best's share of it");
  command->add_flag("--markdown", options->markdown, "Print the table as Markdown");
  constexpr std::int64_t kPatience = 3600;  // seconds: a sweep may run for a week, unattended
  add_search_options(*command, options->search, kPatience);
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  add_trust_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Options of budget and search on the command line override those of the plan.\n"
      "The whole plan is checked before the first session starts. A session that fails is a row\n"
      "of the table; the others go on, and the exit code is 1. While the device is away, or a "
      "disk\n"
      "is full (the database's, or that of temporary files), the sweep waits.\n"
      "Several devices: each kind of device tunes every session once, equal devices share them. A\n"
      "device that goes away returns its session to the others.\n"
      "\n"
      "Example:\n"
      "  kiln sweep examples/demo.plan.toml --device opencl --markdown");
  command->callback([options, &work] {
    if (!options->calls.empty() && options->search.against.empty())
      options->search.against = "cublas";
    work = [options] { return run_sweep(*options); };
  });
}

}  // namespace kiln::cli
