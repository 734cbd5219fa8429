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
  std::string problem;
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

void print_tune_text(const SessionSummary& summary, const KernelSpec& spec,
                     const TuneFlags& options) {
  const SessionResult& result = *summary.result;
  const Screen screen = screen_of(STDOUT_FILENO);
  print_shown("{}", report({summary}, std::nullopt, ReportFormat::text, screen));
  const auto print_line = [&](const std::string& line) {
    print_shown("{}", paragraph(line, screen.width));
  };
  print_shown("\n");
  print_line(
      fmt::format("session {}: {} of {} in {:.1f} s; {} cache{}; {}; database {}", result.id,
                  tried_of(summary), counted(result.space_size, "config"), result.wall_seconds,
                  options.search.warm_cache ? "warm" : "cold",
                  options.search.settings.timing == Timing::graph ? ", timed in a graph" : "",
                  end_text(result.end), options.common.database.string()));
  const Objective objective =
      find_objective(spec, options.search.settings.objective.value_or("time"));
  for (const std::string& line : remarks(summary, objective.unit)) print_line(line);
  for (const std::string& line : doubts({summary})) print_line(line);
}

ExitCode run_tune(const TuneFlags& options) {
  const KernelSpec spec = options.common.library().load(options.kernel);
  require_trust(spec, options.common);
  const Problem problem = Problem::parse(spec, options.problem);
  check_names(options.search.settings, spec);
  const DeviceInfo device = choose_device(spec, options.device);

  const Setting setting(spec, problem, device);
  SessionSummary summary = summarise(setting);
  try {
    run_session(setting, options, summary);
  } catch (const TransientError&) {
    if (!stop_on_signals()) throw;
    print_interrupted("waiting", options.search.fresh);
    return interrupted_exit_code();
  }
  if (options.common.json) {
    print_shown("{}", report({summary}, std::nullopt, ReportFormat::json));
  } else {
    print_tune_text(summary, spec, options);
  }
  if (summary.result->end == SessionEnd::interrupted) {
    print_interrupted(fmt::format("session {}", summary.result->id), options.search.fresh);
    return interrupted_exit_code();
  }
  return found_best(summary) ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_tune_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<TuneFlags>();
  CLI::App* command =
      app.add_subcommand("tune", "Find the best config of one kernel for one problem");
  add_kernel_and_problem(*command, options->kernel, options->problem);
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
      "  kiln tune ./my_kernel --problem n=1e8 --device opencl --trials 200");
  command->callback([options, &work] { work = [options] { return run_tune(*options); }; });
}

}  // namespace kiln::cli
