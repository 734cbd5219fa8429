// `kiln show [SESSION]`: sessions, and the trials of one: the fastest, and the failures by reason.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "cli/units.hpp"
#include "db/store.hpp"
#include "db/stored_problem.hpp"
#include "tuner/time_use.hpp"

namespace kiln::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string session;
  std::size_t top = 10;
  bool failures = false;
};

SessionRecord find_session(const Store& store, const std::string& text) {
  std::vector<SessionRecord> sessions = store.sessions();
  if (sessions.empty()) throw InputError("the database holds no session yet");
  if (text == "latest") {
    return sessions.back();
  }
  for (SessionRecord& session : sessions) {
    if (std::to_string(session.id) == text) {
      return session;
    }
  }
  throw InputError(fmt::format(
      "there is no session '{}'; expected a number that `kiln show` lists, or latest", text));
}

Json session_json(const SessionRecord& session) {
  return {{"id", session.id},
          {"kernel", session.key.kernel},
          {"problem", stored_problem(session.problem_json, session.id)},
          {"device", session.key.device},
          {"driver", session.key.driver},
          {"compiler", session.key.compiler},
          {"tool_version", session.key.tool_version},
          {"strategy", session.key.strategy},
          {"seed", session.key.seed},
          {"options", session.key.options},
          {"budget", session.budget},
          {"state", name_of(session.state)},
          {"space_size", session.space_size},
          {"trials", session.trial_count},
          {"started_at", session.started_at},
          {"finished_at", session.finished_at},
          {"wall_seconds", session.wall_seconds}};
}

ExitCode list_sessions(const Store& store, const Options& options) {
  const std::vector<SessionRecord> sessions = store.sessions();
  if (options.common.json) {
    Json all = Json::array();
    for (const SessionRecord& session : sessions) {
      all.push_back(session_json(session));
    }
    fmt::print("{}", json_output(all));
    return ExitCode::ok;
  }
  if (sessions.empty()) {
    fmt::print("no sessions yet\n");
    return ExitCode::ok;
  }
  Table table({{"session", Table::Align::right},
               {"kernel"},
               {"problem"},
               {"device"},
               {"strategy"},
               {"state"},
               {"trials", Table::Align::right},
               {"started"}});
  for (const SessionRecord& session : sessions) {
    table.add_row({std::to_string(session.id), session.key.kernel, session.key.problem,
                   session.device_info.name, session.key.strategy,
                   std::string(name_of(session.state)), std::to_string(session.trial_count),
                   session.started_at});
  }
  fmt::print("{}", table.text());
  return ExitCode::ok;
}

void print_fastest(std::vector<TrialRecord> trials, std::size_t top) {
  std::erase_if(trials, [](const TrialRecord& row) { return !row.trial.ok(); });
  std::stable_sort(trials.begin(), trials.end(), [](const TrialRecord& a, const TrialRecord& b) {
    return a.trial.time_ns < b.trial.time_ns;
  });
  if (trials.empty()) {
    fmt::print("no trial was ok\n");
    return;
  }
  Table table({{"trial", Table::Align::right},
               {"time", Table::Align::right},
               {"samples", Table::Align::right},
               {"compile", Table::Align::right},
               {"registers", Table::Align::right},
               {"config"}});
  for (const TrialRecord& row : trials) {
    if (top-- == 0) {
      break;
    }
    table.add_row({std::to_string(row.sequence), pretty_time(row.trial.time_ns),
                   std::to_string(row.trial.samples.ns.size()),
                   row.trial.cost.compile_ns == 0
                       ? "shared"
                       : pretty_time(static_cast<double>(row.trial.cost.compile_ns)),
                   row.trial.registers < 0 ? "-" : std::to_string(row.trial.registers),
                   row.trial.config.text()});
  }
  fmt::print("{}", table.text());
}

void print_failure_reasons(const std::vector<TrialRecord>& trials) {
  std::map<std::string, std::pair<std::size_t, const TrialRecord*>> by_outcome;
  for (const TrialRecord& row : trials) {
    if (!row.trial.ok()) {
      auto& [count, example] = by_outcome[std::string(name_of(row.trial.outcome))];
      ++count;
      example = example == nullptr ? &row : example;
    }
  }
  if (by_outcome.empty()) {
    fmt::print("\nno failures\n");
    return;
  }
  Table table({{"outcome"}, {"trials", Table::Align::right}, {"first, with its reason"}});
  for (const auto& [outcome, entry] : by_outcome) {
    table.add_row({outcome, std::to_string(entry.first),
                   fmt::format("{}: {}", entry.second->trial.config.text(),
                               first_line(entry.second->trial.message))});
  }
  fmt::print("\n{}", table.text());
}

void print_failures(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> texts;
  for (const TrialRecord& row : trials) {
    if (row.trial.ok()) continue;
    texts.push_back(fmt::format("{} {} {}\n{}\n", row.sequence, name_of(row.trial.outcome),
                                row.trial.config.text(), row.trial.message));
  }
  fmt::print("{}", texts.empty() ? "no failures\n" : fmt::format("{}", fmt::join(texts, "\n")));
}

/// Stored with what a session publishes.
std::optional<TimeUse> find_time_use(const Store& store, const SessionRecord& session) {
  const std::optional<BestRecord> best = store.best_of(session.id);
  return best ? time_use_of(best->evidence) : std::nullopt;
}

void print_time_use(const std::optional<TimeUse>& use) {
  if (!use) return;
  fmt::print("\nwhere the time of the last run's search went:\n");
  for (const std::string& line : lines_of(*use)) fmt::print("  {}\n", line);
}

ExitCode show_session(const Store& store, const Options& options) {
  const SessionRecord session = find_session(store, options.session);
  const std::vector<TrialRecord> trials = store.trials(session.id);
  if (options.common.json) {
    Json json = session_json(session);
    const std::optional<TimeUse> use = find_time_use(store, session);
    json["time_use"] = use ? Json::parse(time_use_json(*use)) : Json(nullptr);
    json["rows"] = Json::array();
    for (const TrialRecord& row : trials) {
      json["rows"].push_back(to_json(row.trial));
      json["rows"].back()["sequence"] = row.sequence;
    }
    fmt::print("{}", json_output(json));
    return ExitCode::ok;
  }
  fmt::print("session {}: {} {} on {}\n", session.id, session.key.kernel, session.key.problem,
             session.key.device);
  fmt::print("{}; strategy {}, seed {}, {}; {} of {} configs tried; driver {}, {}\n\n",
             name_of(session.state), session.key.strategy, session.key.seed, session.budget,
             trials.size(), session.space_size, session.key.driver, session.key.compiler);
  if (options.failures) {
    print_failures(trials);
  } else {
    print_fastest(trials, options.top);
    print_failure_reasons(trials);
    print_time_use(find_time_use(store, session));
  }
  return ExitCode::ok;
}

}  // namespace

void add_show_command(CLI::App& app, Work& work) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "show", "List the sessions, or one session's fastest trials and its failures");
  command->add_option("session", options->session, "Number of a session, or latest")
      ->type_name("SESSION");
  command->add_option("--top", options->top, "How many of the fastest trials")
      ->type_name("COUNT")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_flag("--failures", options->failures, "Every failed trial with its whole message");
  add_database_option(*command, options->common);
  add_json_option(*command, options->common);
  command->footer(
      "Works while a session is running. A compile time of \"shared\" means that another config\n"
      "rendered to the same source. For a session with a best it ends with where the time of the\n"
      "search went.\n"
      "\n"
      "Examples:\n"
      "  kiln show\n"
      "  kiln show latest --top 20\n"
      "  kiln show 3 --failures");
  command->callback([options, &work] {
    work = [options] {
      const Store store(options->common.database, Store::Mode::read);
      return options->session.empty() ? list_sessions(store, *options)
                                      : show_session(store, *options);
    };
  });
}

}  // namespace kiln::cli
