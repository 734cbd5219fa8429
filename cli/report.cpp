// `kiln report`: sessions as one HTML file; cli/report/ has the numbers and texts, report/ the
// page.
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/report.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/text_files.hpp"
#include "cli/units.hpp"
#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "db/store.hpp"
#include "report/page.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

/// Trials that one page holds: more take a browser too long.
constexpr std::size_t kMostTrials = 60'000;

struct ReportFlags {
  CommonOptions common;
  std::vector<std::string> words;  ///< databases and sessions that are named without an option
  std::vector<std::string> databases;
  std::vector<std::string> sessions;
  std::string ceilings;
  std::string output = "kiln-report.html";
  bool force = false;
};

ReportedSession read_reported(const Store& store, const SessionRecord& record,
                              const fs::path& database, std::size_t side, ProblemNames& names,
                              const KernelLibrary& library) {
  ReportedSession session{.shown = read_session(store, record, names),
                          .database = database,
                          .side = side,
                          .has_trials = true};
  session.shown.drift.clear();
  session.arithmetic = arithmetic_roof(library, session.shown);
  return session;
}

/// The sessions of one database that the options name; all of them if they name none.
std::vector<SessionRecord> chosen_sessions(const Store& store, const ReportFlags& options) {
  std::vector<SessionRecord> chosen;
  for (const std::string& text : options.sessions) chosen.push_back(find_session(store, text));
  if (chosen.empty()) chosen = store.sessions();
  if (chosen.empty()) throw InputError("the database holds no session yet");
  return chosen;
}

/// Two databases of one name get their folders.
std::vector<std::string> side_names(const std::vector<std::string>& databases) {
  std::vector<std::string> names;
  for (const std::string& each : databases) names.push_back(fs::path(each).filename().string());
  return names.front() == names.back() ? databases : names;
}

void keep_most_trials(Report& report) {
  std::size_t kept = 0;
  for (auto session = report.sessions.rbegin(); session != report.sessions.rend(); ++session) {
    const std::size_t trials = session->shown.trials.size();
    session->has_trials = kept == 0 || kept + trials <= kMostTrials;
    if (session->has_trials) kept += trials;
  }
}

Report read_report(const ReportFlags& options) {
  Report report;
  const KernelLibrary library = options.common.library();
  ProblemNames names(library);
  std::vector<std::string> databases = options.databases;
  if (databases.empty()) databases.push_back(default_database_path().string());
  for (std::size_t side = 0; side < databases.size(); ++side) {
    const Store store(databases[side], Store::Mode::read);
    for (const SessionRecord& record : chosen_sessions(store, options))
      report.sessions.push_back(
          read_reported(store, record, databases[side], side, names, library));
  }
  const bool has_trial =
      std::any_of(report.sessions.begin(), report.sessions.end(),
                  [](const ReportedSession& each) { return !each.shown.trials.empty(); });
  if (!has_trial) {
    throw InputError(report.sessions.size() == 1 ? fmt::format("session {} has no trial yet",
                                                               report.sessions[0].shown.record.id)
                                                 : "no session has a trial yet");
  }
  keep_most_trials(report);
  if (databases.size() == 2) {
    report.sides = side_names(databases);
    report.title = fmt::format("{} and {}", report.sides[0], report.sides[1]);
    pair_sessions(report);
  } else if (options.sessions.size() == 2) {
    report.sessions[1].side = 1;
    report.sides_are_sessions = true;
    report.sides = {fmt::format("session {}", report.sessions[0].shown.record.id),
                    fmt::format("session {}", report.sessions[1].shown.record.id)};
    report.title = fmt::format("{} and {}", report.sides[0], report.sides[1]);
    pair_sessions(report);
  } else if (report.sessions.size() == 1) {
    report.title = name_of(report.sessions.front());
  } else {
    report.title = fmt::format("{} of {}", counted(std::ssize(report.sessions), "session"),
                               fs::path(databases.front()).filename().string());
    split_by_driver(report);
  }
  if (!options.ceilings.empty()) report.measured = read_ceilings(options.ceilings);
  return report;
}

ExitCode run_report(const ReportFlags& options) {
  if (!can_draw_reports()) {
    throw Error(ExitCode::failed,
                "this kiln was built without Vega, Vega-Lite and Vega-Embed, which a report needs: "
                "run scripts/install_dependencies and build it again");
  }
  if (options.databases.size() > 2)
    throw UsageError("--db: a report compares two databases at most (see kiln report --help)");
  if (options.sessions.size() > 2)
    throw UsageError("--session: a report compares two sessions at most (see kiln report --help)");
  if (options.databases.size() == 2 && options.sessions.size() == 2)
    throw UsageError(
        "two of --db and two of --session exclude each other (see kiln report --help)");
  const Report report = read_report(options);
  const std::string page = report_page({.title = report.title + " - Kiln",
                                        .answer = answer_html(report),
                                        .details = details_html(report),
                                        .data = json_text(report_json(report))});
  write_text_file(options.output, page, {"content=\"kiln ", options.force});
  if (options.output != "-")
    print_shown("{}: {}\n", options.output, pretty_bytes(static_cast<double>(page.size())));
  return ExitCode::ok;
}

}  // namespace

void add_report_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand(
      "report", "Write sessions as one HTML file with plots, to look at offline and to send");
  add_value(*command, "file", options->words, "FILE",
            "Database, the same as --db; or a session, the same as --session");
  add_value(*command, "--session", options->sessions, "SESSION",
            "Only this session: its number, or latest; twice: two side by side")
      ->allow_extra_args(false);
  add_value(*command, "--db", options->databases, "FILE",
            "Database file or server (default: $KILN_DB, else kiln/kiln.db in the user's data\n"
            "folder); twice: two side by side")
      ->check(database_name())
      ->allow_extra_args(false);
  add_value(*command, "-o,--output", options->output, "FILE", "The file to write; - is stdout")
      ->check(file_name())
      ->capture_default_str();
  add_value(*command, "--ceilings", options->ceilings, "FILE",
            "Ceilings of the device for rooflines: the output of `kiln sweep --ceilings\n"
            "--json`")
      ->check(file_name());
  add_force_option(*command, options->force);
  add_kernel_path_option(*command, options->common);
  command->footer(
      "Without --session the report is of all sessions of the database. Two of --session, two of\n"
      "--db, and sessions of two drivers in one database are paired by kernel and problem. The\n"
      "file loads nothing and needs a browser of 2023 or later for its plots.\n"
      "\n"
      "Examples:\n"
      "  kiln report --session latest\n"
      "  kiln report nightly.db -o nightly.html\n"
      "  kiln report before.db after.db -o both.html");
  command->callback([options, &work] {
    for (const std::string& word : options->words)
      (names_database(word) ? options->databases : options->sessions).push_back(word);
    work = [options] { return run_report(*options); };
  });
}

}  // namespace kiln::cli
