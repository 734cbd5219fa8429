// `kiln show [SESSION]`: the sessions, or what one of them found; cli/show/ makes the texts.
// SPDX-License-Identifier: Apache-2.0
#include "cli/show/show.hpp"

#include <unistd.h>

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "core/field_json.hpp"
#include "core/suggest.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

struct ShowFlags {
  CommonOptions common;
  std::string session;
  std::string file;  ///< a database, where it is named without --db
  TrialChoice choice;
  bool csv = false;
  bool failures = false;
};

ExitCode list_sessions(const Store& store, const ShowFlags& options) {
  const std::vector<SessionRecord> sessions = store.sessions();
  if (options.common.json) {
    Json all = Json::array();
    for (const SessionRecord& session : sessions) {
      all.push_back(record_json(session));
    }
    print_shown("{}", json_output(all));
    return ExitCode::ok;
  }
  if (sessions.empty()) {
    print_shown("no sessions yet\n");
    return ExitCode::ok;
  }
  ProblemNames names(options.common.library());
  print_shown("{}", session_list(sessions, store.answers(), names, screen_of(STDOUT_FILENO)));
  return ExitCode::ok;
}

void print_failures(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> texts;
  for (const TrialRecord& row : trials) {
    if (row.trial.ok()) continue;
    texts.push_back(fmt::format("{} {} {}\n{}\n", row.sequence, name_of(row.trial.outcome),
                                row.trial.config.text(), row.trial.message));
  }
  print_shown("{}", texts.empty() ? "no failures\n" : fmt::format("{}", fmt::join(texts, "\n")));
}

Json shown_json(const ShownSession& shown) {
  Json json = record_json(shown.record);
  json.update(answer_json(shown));
  json["rows"] = Json::array();
  for (const TrialRecord& row : shown.trials) {
    json["rows"].push_back(field_json(row.trial));
    json["rows"].back()["sequence"] = row.sequence;
  }
  return json;
}

ExitCode show_session(const Store& store, const ShowFlags& options) {
  ProblemNames names(options.common.library());
  const ShownSession shown = read_session(store, find_session(store, options.session), names);
  if (options.common.json) {
    print_shown("{}", json_output(shown_json(shown)));
  } else if (options.csv) {
    print_shown("{}", trials_csv(chosen_trials(shown.trials, options.choice)));
  } else if (options.failures) {
    print_failures(shown.trials);
  } else {
    print_shown("{}", session_page(shown, options.choice, screen_of(STDOUT_FILENO)));
  }
  return ExitCode::ok;
}

ExitCode run_show(const ShowFlags& options) {
  if (options.csv && options.common.json)
    throw UsageError("--csv and --json exclude each other (see kiln show --help)");
  const bool wants_trials = options.csv || options.failures || !options.choice.where.empty();
  if (options.session.empty() && wants_trials) {
    throw UsageError(
        "--csv, --where and --failures are about one session: name it, or latest (see kiln show "
        "--help)");
  }
  const Store store(options.common.database, Store::Mode::read);
  return options.session.empty() ? list_sessions(store, options) : show_session(store, options);
}

}  // namespace

void add_show_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<ShowFlags>();
  TrialChoice& choice = options->choice;
  CLI::App* command = app.add_subcommand(
      "show", "List the sessions, or show what one found: the best first, then its trials");
  add_value(*command, "session", options->session, "SESSION", "Number of a session, or latest");
  add_value(*command, "file", options->file, "FILE", "Database, the same as --db");
  add_value(*command, "--top", choice.top, "COUNT", "How many of the fastest trials")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_flag("--all", choice.all, "Every trial and every part, whatever the terminal holds");
  add_value(*command, "--sort", choice.sort, "COLUMN",
            fmt::format("Order of the trials: {} (default: time)", comma_list(trial_columns())))
      ->check(one_of("column", trial_columns()));
  command
      ->add_option("--where", choice.where,
                   "Only trials with this value, e.g. tile_m=64, variant=tile, outcome=ok; may\n"
                   "repeat")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--csv", options->csv,
                    "Print the trials, all of them, as comma-separated values");
  command->add_flag("--failures", options->failures, "Every failed trial with its whole message");
  add_common_options(*command, options->common);
  command->footer(
      "Works while a session is running. A compile time of \"shared\" means that another config\n"
      "rendered to the same source. Times of the finals are of one clock; times of the search,\n"
      "in the list of trials, of another. On a terminal the page is cut to the height of the\n"
      "screen, unless --all or --top is given.\n"
      "\n"
      "Examples:\n"
      "  kiln show\n"
      "  kiln show nightly.db\n"
      "  kiln show latest --top 20\n"
      "  kiln show latest --where tile_m=64 --sort compile\n"
      "  kiln show 3 --csv > trials.csv\n"
      "  kiln show 3 --failures");
  command->callback([options, command, &work] {
    if (names_database(options->session)) std::swap(options->session, options->file);
    if (!options->file.empty()) {
      if (!names_database(options->file))
        throw UsageError("expected one session or a database, not '" + options->file + "'");
      if (command->count("--db") > 0)
        throw UsageError("the database is named twice, as FILE and by --db");
      options->common.database = options->file;
    }
    options->choice.names_top = command->count("--top") > 0;
    work = [options] { return run_show(*options); };
  });
}

}  // namespace kiln::cli
