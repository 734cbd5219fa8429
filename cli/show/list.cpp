// The list of sessions.
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "cli/show/show.hpp"
#include "cli/table.hpp"
#include "cli/units.hpp"

namespace kiln::cli {
namespace {

using Align = Table::Align;

/// What a narrow screen does without.
enum class Detail { all, no_start, no_device };

std::string answer_text(const SessionRecord& session, const SessionAnswer* answer) {
  const bool is_finished = session.state == SessionState::finished;
  if (answer == nullptr) return is_finished ? "none" : std::string(name_of(session.state));
  if (!answer->is_published) return is_finished ? "none" : "so far";
  if (answer->default_time_ns <= 0 && answer->verdict != Verdict::none) return "no default";
  return std::string(name_of(answer->verdict));
}

Style style_of(const std::string& answer) {
  if (answer == name_of(Verdict::better)) return Style::good;
  return answer == name_of(Verdict::none) ? Style::bad : Style::doubtful;
}

std::vector<Table::Column> columns_for(Detail detail) {
  std::vector<Table::Column> columns = {{"session", Align::right},
                                        {"kernel"},
                                        {"problem"},
                                        {"best", Align::right},
                                        {"speed-up", Align::right},
                                        {"verdict"},
                                        {"trials", Align::right}};
  if (detail != Detail::no_device) columns.push_back({"device"});
  if (detail == Detail::all) columns.push_back({"started"});
  return columns;
}

}  // namespace

std::string session_list(const std::vector<SessionRecord>& sessions,
                         const std::map<SessionId, SessionAnswer>& answers, ProblemNames& names,
                         const Screen& screen) {
  const auto table_with = [&](Detail detail) {
    Table table(columns_for(detail));
    for (const SessionRecord& session : sessions) {
      const auto found = answers.find(session.id);
      const SessionAnswer* answer = found == answers.end() ? nullptr : &found->second;
      const std::string verdict = answer_text(session, answer);
      std::vector<std::string> cells = {
          std::to_string(session.id),
          session.key.kernel,
          names.text(session.key, session.problem_json, session.id),
          answer == nullptr ? "-" : pretty_time(answer->time_ns),
          answer == nullptr ? "-" : pretty_speedup(answer->default_time_ns, answer->time_ns),
          styled(verdict, style_of(verdict), screen),
          std::to_string(session.trial_count)};
      if (detail != Detail::no_device) cells.push_back(session.device_info.name);
      if (detail == Detail::all) cells.push_back(session.started_at);
      table.add_row(std::move(cells));
    }
    return table;
  };
  std::set<std::string> devices;
  for (const SessionRecord& session : sessions) devices.insert(session.device_info.name);
  for (const Detail detail : {Detail::all, Detail::no_start, Detail::no_device}) {
    // Which device it was is left out only where all are of one.
    if (detail == Detail::no_device && devices.size() > 1) break;
    const Table table = table_with(detail);
    if (!screen.width || table.width() <= *screen.width) return table.text();
  }
  return table_with(devices.size() > 1 ? Detail::no_start : Detail::no_device).text(screen.width);
}

}  // namespace kiln::cli
