// `kiln db rm SESSION...`: removes sessions with all that they found.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/db/command.hpp"
#include "cli/print.hpp"
#include "cli/show/show.hpp"
#include "cli/units.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

struct DbRmFlags {
  CommonOptions common;
  std::vector<std::string> sessions;
};

ExitCode run_db_rm(const DbRmFlags& options) {
  if (options.sessions.empty()) throw UsageError("expected a SESSION (see kiln db rm --help)");
  // Read first: a file that is not there is not made, and a word that names no session removes
  // none.
  std::vector<SessionRecord> sessions;
  {
    const Store store(options.common.database, Store::Mode::read);
    for (const std::string& text : options.sessions) {
      const SessionRecord session = find_session(store, text);
      const bool is_new =
          std::ranges::find(sessions, session.id, &SessionRecord::id) == sessions.end();
      if (is_new) sessions.push_back(session);
    }
  }
  Store store(options.common.database, Store::Mode::write);
  ProblemNames names(options.common.library());
  std::vector<SessionId> ids;
  std::vector<std::int64_t> trials;
  for (const SessionRecord& session : sessions) {
    ids.push_back(session.id);
    trials.push_back(std::ssize(store.trials(session.id)));
  }
  store.remove_sessions(ids);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    print_shown("removed session {}: {} {}, {}\n", sessions[i].id, sessions[i].key.kernel,
                names.text(sessions[i].key, sessions[i].problem_json, sessions[i].id),
                counted(trials[i], "trial"));
  }
  return ExitCode::ok;
}

}  // namespace

void add_db_rm(CLI::App& db, Work& work) {
  auto options = std::make_shared<DbRmFlags>();
  CLI::App* command =
      db.add_subcommand("rm", "Remove sessions with their trials and bests, for good");
  command
      ->add_option("session", options->sessions,
                   "Numbers of sessions, or latest; a database may stand among them")
      ->required()
      ->type_name("SESSION");
  add_database_option(*command, options->common);
  add_kernel_path_option(*command, options->common);
  command->footer(
      "All or none are removed. Lookups answer from what is left.\n"
      "\n"
      "Example:\n"
      "  kiln db rm 3 4");
  command->callback([options, &work] {
    std::vector<std::string>& words = options->sessions;
    const auto file = std::find_if(words.begin(), words.end(), names_database);
    if (file != words.end()) {
      options->common.database = *file;
      words.erase(file);
    }
    work = [options] { return run_db_rm(*options); };
  });
}

}  // namespace kiln::cli
