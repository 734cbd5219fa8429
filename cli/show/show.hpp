// The parts of `kiln show`: the list of sessions, one session, its trials. Private to the command.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/finals.hpp"
#include "cli/problem_names.hpp"
#include "cli/terminal.hpp"
#include "core/json.hpp"
#include "db/store.hpp"

namespace kiln::cli {

/// How much of the spread of times one tunable explains on its own.
struct Importance {
  std::string variant;
  std::size_t trials = 0;  ///< of the variant that were ok: what the share rests on
  std::string tunable;
  double share = 0;       ///< of the variance of log(time), less what chance alone would give
  double chance = 1;      ///< that shuffled times do as well
  std::string certainty;  ///< the chance in words: "sure", "likely", "may be chance"
  std::string fastest;    ///< value of the fastest trial
};

/// One session with all that is shown of it.
struct ShownSession {
  SessionRecord record;
  std::string problem;              ///< short text
  std::vector<TrialRecord> trials;  ///< all of them, in order
  std::optional<BestRecord> best;   ///< published, or so far (lookup/best_so_far.hpp)
  std::vector<Finalist> finalists;  ///< of a published best
  std::vector<DriftRecord> drift;
};

/// Is a word of the command line a database, where a session could stand, too? A number and
/// "latest" are sessions, unless a file has that name.
[[nodiscard]] bool names_database(const std::string& word);

/// Was it measured elsewhere? Then only its best and the configs around it are here.
[[nodiscard]] bool is_imported(const SessionRecord& session);

/// The trial of the default config: the first of every session that was not imported; nullptr where
/// it is not known.
[[nodiscard]] const TrialRecord* default_trial(const ShownSession& shown);

/// How trials are chosen and ordered for a list of them.
struct TrialChoice {
  std::size_t top = 10;
  bool all = false;                ///< everything, however long; `top` does not count
  bool names_top = false;          ///< the user asked for `top` trials
  std::string sort;                ///< a column of trial_columns(); empty: time
  std::vector<std::string> where;  ///< each "tunable=value", "variant=name" or "outcome=name"
};

/// What --sort takes.
[[nodiscard]] const std::vector<std::string>& trial_columns();

/// The trials that --where leaves, in the order of --sort. Throws UsageError for a condition that
/// no trial of the session could meet: an unknown tunable, a value that was never tried.
[[nodiscard]] std::vector<TrialRecord> chosen_trials(const std::vector<TrialRecord>& trials,
                                                     const TrialChoice& choice);

/// Every chosen trial as comma-separated values, with a heading: one column a tunable.
[[nodiscard]] std::string trials_csv(const std::vector<TrialRecord>& trials);

/// Every tunable of the trials, in the order in which they first appear.
[[nodiscard]] std::vector<std::string> tunable_names(const std::vector<TrialRecord>& trials);

/// The session of this number, or the last for "latest". Throws InputError if there is none.
[[nodiscard]] SessionRecord find_session(const Store& store, const std::string& text);

[[nodiscard]] ShownSession read_session(const Store& store, const SessionRecord& record,
                                        ProblemNames& names);

/// What `kiln show --json` prints of a session in the list of all.
[[nodiscard]] Json record_json(const SessionRecord& session);

/// What `kiln show SESSION --json` and `kiln report` have beside record and trials: best, verdict,
/// finals with intervals, failures by reason, importance, time use.
[[nodiscard]] Json answer_json(const ShownSession& shown);

[[nodiscard]] std::string session_list(const std::vector<SessionRecord>& sessions,
                                       const std::map<SessionId, SessionAnswer>& answers,
                                       ProblemNames& names, const Screen& screen);

/// Returns which tunables of the most tried variant matter. One line for each of the three tunables
/// that explain most of the spread of times, with its fastest value and how certain that is.
[[nodiscard]] std::vector<std::string> importance(const std::vector<TrialRecord>& trials);

/// The same of every variant with trials enough, the one that was tried most first, with every
/// tunable that explains something.
[[nodiscard]] std::vector<Importance> importance_by_variant(const std::vector<TrialRecord>& trials);

/// The answer first: best, default and naive with their intervals, the config; then how the search
/// came to it, its fastest trials, its failures, its environment.
[[nodiscard]] std::string session_page(const ShownSession& session, const TrialChoice& choice,
                                       const Screen& screen);

/// Bars of one character each for `values`, scaled to the largest: "▁▃█"; digits 0 to 9 where the
/// screen has no such characters.
[[nodiscard]] std::string bars(const std::vector<double>& values, const Screen& screen);

/// The best time so far over the trials, and how their times are spread: a line each.
[[nodiscard]] std::string charts(const std::vector<TrialRecord>& trials, const Screen& screen);

}  // namespace kiln::cli
