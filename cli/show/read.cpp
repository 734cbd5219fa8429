// A session as it is read from the database, and as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/failures.hpp"
#include "cli/show/show.hpp"
#include "core/errors.hpp"
#include "core/field_json.hpp"
#include "core/statistics.hpp"
#include "db/session_options.hpp"
#include "db/stored_problem.hpp"
#include "db/time_use.hpp"
#include "lookup/best_so_far.hpp"

namespace kiln::cli {
namespace {

Json final_json(const std::string& name, const std::string& config, double time_ns,
                const Finalist* finalist) {
  const auto interval = finalist != nullptr ? median_interval(finalist->ns) : std::nullopt;
  Json json = {{"name", name}, {"config", config}, {"trial", Json(nullptr)}, {"time_ns", time_ns}};
  if (finalist != nullptr && finalist->sequence > 0) json["trial"] = finalist->sequence;
  json["low_ns"] = interval ? Json(interval->low) : Json(nullptr);
  json["high_ns"] = interval ? Json(interval->high) : Json(nullptr);
  return json;
}

/// The configs of the finals: the best first, the default config and the naive variant last.
Json finals_json(const ShownSession& shown) {
  Json finals = Json::array();
  if (!shown.best || is_unfinished(*shown.best)) return finals;
  const BestRecord& best = *shown.best;
  const auto finalist_of = [&](const std::string& config) {
    const auto found = std::find_if(shown.finalists.begin(), shown.finalists.end(),
                                    [&](const Finalist& each) { return each.config == config; });
    return found == shown.finalists.end() ? nullptr : &*found;
  };
  const TrialRecord* const default_row = default_trial(shown);
  const std::string first = default_row != nullptr ? default_row->trial.config.text() : "";
  const Finalist* winner = finalist_of(best.config.text());
  const Finalist* fallback = default_row != nullptr ? finalist_of(first) : nullptr;
  finals.push_back(final_json("best", best.config.text(), best.time_ns, winner));
  for (const Finalist& each : shown.finalists) {
    if (&each != winner && &each != fallback)
      finals.push_back(final_json("finalist", each.config, median(each.ns), &each));
  }
  if (best.default_time_ns > 0 && (fallback == nullptr || fallback != winner))
    finals.push_back(final_json("default", first, best.default_time_ns, fallback));
  if (best.naive_time_ns) finals.push_back(final_json("naive", "", *best.naive_time_ns, nullptr));
  return finals;
}

Json best_json(const BestRecord& best) {
  return {{"config", best.config.text()},
          {"time_ns", best.time_ns},
          {"default_time_ns", best.default_time_ns},
          {"naive_time_ns", best.naive_time_ns ? Json(*best.naive_time_ns) : Json(nullptr)},
          {"objective", best.objective},
          {"bytes", best.bytes},
          {"flops", best.flops}};
}

Json failures_json(const std::vector<TrialRecord>& trials) {
  Json json = Json::array();
  for (const FailureGroup& group : failure_groups(trials)) {
    json.push_back({{"count", group.count},
                    {"outcome", group.outcome},
                    {"reason", group.reason},
                    {"config", group.config}});
  }
  return json;
}

Json importance_json(const std::vector<TrialRecord>& trials) {
  Json json = Json::array();
  for (const Importance& each : importance_by_variant(trials)) {
    json.push_back({{"variant", each.variant},
                    {"trials", each.trials},
                    {"tunable", each.tunable},
                    {"share", each.share},
                    {"chance", each.chance},
                    {"certainty", each.certainty},
                    {"fastest", each.fastest}});
  }
  return json;
}

}  // namespace

bool is_imported(const SessionRecord& session) {
  return find_option(session.key.options, session_option::kImported).has_value();
}

const TrialRecord* default_trial(const ShownSession& shown) {
  const bool is_known =
      !is_imported(shown.record) && !shown.trials.empty() && shown.trials.front().sequence == 1;
  return is_known ? &shown.trials.front() : nullptr;
}

bool names_database(const std::string& word) {
  std::error_code error;
  const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  if (is_number || word == "latest") return std::filesystem::is_regular_file(word, error);
  return word.find_first_of("./:") != std::string::npos || std::filesystem::exists(word, error);
}

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

Json record_json(const SessionRecord& session) {
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
          {"timing", name_of(session.key.timing)},
          {"budget", session.budget},
          {"state", name_of(session.state)},
          {"space_size", session.space_size},
          {"trials", session.trial_count},
          {"started_at", session.started_at},
          {"finished_at", session.finished_at},
          {"wall_seconds", session.wall_seconds}};
}

ShownSession read_session(const Store& store, const SessionRecord& record, ProblemNames& names) {
  ShownSession shown;
  shown.record = record;
  shown.trials = store.trials(record.id);
  shown.best = store.best_of(record.id);
  if (shown.best) {
    shown.finalists = finalists_of(*shown.best);
  } else if (record.state != SessionState::finished) {
    shown.best = best_so_far(record, shown.trials);
  }
  shown.problem = names.text(record.key, record.problem_json, record.id);
  return shown;
}

Json answer_json(const ShownSession& shown) {
  const std::optional<TimeUse> use =
      shown.best ? read_evidence(shown.best->evidence).time_use : std::nullopt;
  return {{"time_use", use ? field_json(*use) : Json(nullptr)},
          {"best", shown.best ? best_json(*shown.best) : Json(nullptr)},
          {"verdict", shown.best ? verdict_text(*shown.best) : "none"},
          {"finals", finals_json(shown)},
          {"failures", failures_json(shown.trials)},
          {"importance", importance_json(shown.trials)}};
}

}  // namespace kiln::cli
