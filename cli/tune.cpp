// `kiln tune KERNEL --problem ...`: one session.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/device_choice.hpp"
#include "cli/interrupt.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/search_options.hpp"
#include "cli/session_report.hpp"
#include "cli/text_layout.hpp"
#include "cli/trust.hpp"
#include "cli/units.hpp"
#include "core/metrics.hpp"
#include "core/transient_error.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

struct TuneFlags {
  CommonOptions common;
  SearchOptions search;
  std::string kernel;
  std::vector<std::string> problems;  ///< a session each
  std::string device = "auto";
};

std::string_view end_text(SessionEnd end) {
  switch (end) {
    case SessionEnd::seconds:
      return "the time is used up";
    case SessionEnd::trials:
      return "the trials are used up";
    case SessionEnd::no_progress:
      return "no better config for long enough";
    case SessionEnd::target:
      return "good enough";
    case SessionEnd::exhausted:
      return "every config was tried";
    case SessionEnd::none_found:
      return "no untried config was found";
    case SessionEnd::interrupted:
      return "interrupted";
    case SessionEnd::stored:
      return "answered from the database (--fresh tunes again)";
  }
  return "?";
}

void run_session(const Setting& setting, const TuneFlags& options, SessionSummary& summary) {
  const TuneOptions tune_with = tune_options(options.search, options.search.settings);
  summary.variants = tune_with.variants;
  Store store = open_store(options.common, options.search);
  ProgressLine progress(
      fmt::format("{} {}", setting.spec().name, setting.problem().short_text(setting.spec())),
      tune_with.budget,
      options.search.quiet ? ProgressLine::Mode::quiet : ProgressLine::suited_mode());
  const DeviceInfo& device = setting.device();
  summary.result =
      tune_patiently({setting.spec(), setting.problem(), device.backend, device.ordinal, tune_with},
                     store, progress, patience_of(options.search));
  summary.trials = store.trials(summary.result->id);
}

std::int64_t tried_of(const SessionSummary& summary) {
  return std::count_if(summary.trials.begin(), summary.trials.end(),
                       [&](const TrialRecord& each) { return is_asked_for(summary, each); });
}

/// "session 3: 40 of 960 configs in 10.2 s; cold cache; the time is used up; database kiln.db".
std::string session_line(const SessionSummary& summary, const KernelSpec& spec,
                         const TuneFlags& options) {
  const SessionResult& result = *summary.result;
  // A program keeps its own caches, and launches as it likes.
  const std::string how =
      spec.command
          ? ""
          : fmt::format(
                "{} cache{}; ", options.search.warm_cache ? "warm" : "cold",
                options.search.settings.timing == Timing::graph ? ", timed in a graph" : "");
  return fmt::format("session {}: {} of {} in {:.1f} s; {}{}; database {}", result.id,
                     tried_of(summary), counted(result.space_size, "config"), result.wall_seconds,
                     how, end_text(result.end), options.common.database.string());
}

void print_tune_text(const SessionSummary& summary, const KernelSpec& spec,
                     const TuneFlags& options) {
  const Screen screen = screen_of(STDOUT_FILENO);
  print_shown("{}\n", report({summary}, std::nullopt, ReportFormat::text, screen));
  const auto print_line = [&](const std::string& line) {
    print_shown("{}", paragraph(line, screen.width));
  };
  print_line(session_line(summary, spec, options));
  const Objective objective =
      find_objective(spec, options.search.settings.objective.value_or("time"));
  for (const std::string& line : remarks(summary, objective.unit)) print_line(line);
  for (const std::string& line : doubts({summary})) print_line(line);
}

/// One for each --problem. Nothing runs before all of them are read.
std::vector<Problem> read_problems(const KernelSpec& spec, const std::vector<std::string>& texts) {
  std::vector<Problem> problems;
  for (const std::string& text : texts) {
    try {
      problems.push_back(Problem::parse(spec, text));
    } catch (const InputError& error) {
      if (texts.size() == 1) throw;
      throw InputError(
          fmt::format("--problem {}: {} (each --problem is a whole problem)", text, error.what()));
    }
  }
  if (problems.empty()) problems.push_back(Problem::parse(spec, ""));
  return problems;
}

/// Each session is printed as it ends; as JSON, all of them at the end.
ExitCode run_tune(const TuneFlags& options) {
  const KernelSpec spec = options.common.library().load(options.kernel);
  require_trust(spec, options.common);
  const std::vector<Problem> problems = read_problems(spec, options.problems);
  check_names(options.search.settings, spec);
  const DeviceInfo device = choose_device(spec, options.device);

  std::vector<SessionSummary> summaries;
  std::string interrupted;  // what was
  for (const Problem& problem : problems) {
    const Setting setting(spec, problem, device);
    summaries.push_back(summarise(setting));
    SessionSummary& summary = summaries.back();
    try {
      run_session(setting, options, summary);
    } catch (const TransientError&) {
      if (!stop_on_signals()) throw;
      print_interrupted("waiting", options.search.fresh);
      return interrupted_exit_code();
    }
    if (!options.common.json) {
      if (summaries.size() > 1) print_shown("\n");
      print_tune_text(summary, spec, options);
    }
    const bool is_cut = summary.result->end == SessionEnd::interrupted ||
                        (stop_on_signals() && summaries.size() < problems.size());
    if (is_cut) interrupted = fmt::format("session {}", summary.result->id);
    if (is_cut) break;
  }
  if (options.common.json) print_shown("{}", report(summaries, std::nullopt, ReportFormat::json));
  if (!interrupted.empty()) {
    print_interrupted(interrupted, options.search.fresh);
    return interrupted_exit_code();
  }
  return std::all_of(summaries.begin(), summaries.end(), found_best) ? ExitCode::ok
                                                                     : ExitCode::failed;
}

}  // namespace

void add_tune_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<TuneFlags>();
  CLI::App* command =
      app.add_subcommand("tune", "Find the best config of one kernel for one problem");
  add_kernel_option(*command, options->kernel);
  add_problem_option(*command, options->problems);
  add_device_option(*command, options->device);
  constexpr std::int64_t kPatience = 30;  // seconds: whoever called it may be waiting
  add_search_options(*command, options->search, kPatience);
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  add_trust_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Every trial is stored as it ends. Run the same command again to continue an interrupted\n"
      "session; a finished session answers from the database.\n"
      "\n"
      "Examples:\n"
      "  kiln tune matmul --problem m=4096,n=4096,k=4096,dtype=f32 --seconds 120\n"
      "  kiln tune reduce --problem n=2^20 --problem n=2^24 --seconds 30 --target 1.5x\n"
      "  kiln tune ./my_kernel --problem n=1e8 --device opencl --trials 200");
  command->callback([options, &work] { work = [options] { return run_tune(*options); }; });
}

}  // namespace kiln::cli
