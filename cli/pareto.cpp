// SPDX-License-Identifier: Apache-2.0
#include "cli/pareto.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/json_output.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/units.hpp"
#include "core/metrics.hpp"
#include "db/session_options.hpp"
#include "db/store.hpp"

namespace kiln::cli {
namespace {

struct Point {
  const Trial* trial = nullptr;
  double first = 0;  ///< values of the two objectives
  double second = 0;
};

std::pair<Objective, Objective> two_objectives(const ParetoRequest& request) {
  const std::size_t comma = request.objectives.find(',');
  const std::string first = request.objectives.substr(0, comma);
  const std::string second = comma == std::string::npos ? "" : request.objectives.substr(comma + 1);
  if (first.empty() || second.empty() || first == second) {
    throw UsageError(fmt::format("--pareto: expected two objectives such as time,energy, not '{}'",
                                 request.objectives));
  }
  return {find_objective(request.setting.spec(), first),
          find_objective(request.setting.spec(), second)};
}

std::optional<std::string_view> cache_of(const SessionRecord& session) {
  return find_option(session.key.options, session_option::kCache);
}

// Values compare only where everything but the search is the same as in the newest session.
bool comparable(const SessionRecord& one, const SessionRecord& newest) {
  return one.key.spec_hash == newest.key.spec_hash && one.key.driver == newest.key.driver &&
         one.key.compiler == newest.key.compiler && one.key.timing == newest.key.timing &&
         cache_of(one) == cache_of(newest);
}

std::vector<SessionRecord> comparable_sessions(const Store& store, const ParetoRequest& request) {
  const Setting& setting = request.setting;
  const std::string spec_hash = content_hash(setting.spec());
  std::vector<SessionRecord> sessions = store.sessions();
  std::erase_if(sessions, [&](const SessionRecord& session) {
    return session.key.kernel != setting.spec().name ||
           session.key.problem != setting.problem().text() ||
           session.key.device != identity_of(setting.device()) ||
           session.key.spec_hash != spec_hash ||
           session.key.timing != request.timing.value_or(session.key.timing);
  });
  if (sessions.empty()) return {};
  const SessionRecord newest = sessions.back();
  std::erase_if(sessions,
                [&](const SessionRecord& session) { return !comparable(session, newest); });
  return sessions;
}

/// The newest trial of each config that was ok, by its text.
std::map<std::string, Trial> newest_trials(const Store& store,
                                           const std::vector<SessionRecord>& sessions) {
  std::map<std::string, Trial> trials;
  for (const SessionRecord& session : sessions) {
    for (TrialRecord& record : store.trials(session.id)) {
      if (record.trial.ok()) {
        trials.insert_or_assign(record.trial.config.text(), std::move(record.trial));
      }
    }
  }
  return trials;
}

std::string value_text(const Objective& objective, double value) {
  if (objective.is_time()) return pretty_time(value);
  return fmt::format("{:.4g}{}{}", value, objective.unit.empty() ? "" : " ", objective.unit);
}

void print_pareto_text(const std::vector<Point>& front, const Objective& a, const Objective& b) {
  Table table({{a.name, Table::Align::right}, {b.name, Table::Align::right}, {"config"}});
  for (const Point& point : front) {
    table.add_row(
        {value_text(a, point.first), value_text(b, point.second), point.trial->config.text()});
  }
  print_shown("{}", table.text(output_width()));
}

Json front_json(const std::vector<Point>& front, const Objective& a, const Objective& b) {
  Json rows = Json::array();
  for (const Point& point : front) {
    rows.push_back({{"config", to_json(point.trial->config)},
                    {"config_text", point.trial->config.text()},
                    {a.name, point.first},
                    {b.name, point.second}});
  }
  return rows;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  std::vector<std::size_t> front;
  for (const std::size_t index : order) {
    if (front.empty() || points[index].second < points[front.back()].second) {
      front.push_back(index);
    }
  }
  return front;
}

ExitCode print_pareto(const ParetoRequest& request) {
  const Setting& setting = request.setting;
  const auto [a, b] = two_objectives(request);
  const Store store(request.common.database, Store::Mode::read);
  const std::vector<SessionRecord> sessions = comparable_sessions(store, request);
  const std::map<std::string, Trial> trials = newest_trials(store, sessions);
  const Metrics metrics(setting);
  std::vector<Point> points;
  std::vector<std::pair<double, double>> scores;
  for (const auto& [text, trial] : trials) {
    const std::optional<double> first = metrics.value(a, trial);
    const std::optional<double> second = metrics.value(b, trial);
    if (!first || !second) continue;
    points.push_back({&trial, *first, *second});
    scores.emplace_back(a.score(*first), b.score(*second));
  }
  if (points.empty()) {
    throw Error(ExitCode::failed,
                fmt::format("no trial of {} {} on {} has both {} and {}", setting.spec().name,
                            setting.problem().short_text(setting.spec()),
                            identity_of(setting.device()), a.name, b.name));
  }
  std::vector<Point> front;
  for (const std::size_t index : pareto_front(scores)) front.push_back(points[index]);
  if (!request.common.json) {
    print_pareto_text(front, a, b);
    print_shown("\n{} of {} that have both values\n", front.size(),
                counted(static_cast<std::int64_t>(points.size()), "config"));
    return ExitCode::ok;
  }
  print_shown("{}", json_output({{"kernel", setting.spec().name},
                                 {"problem", to_json(setting.problem())},
                                 {"device", identity_of(setting.device())},
                                 {"objectives", {a.name, b.name}},
                                 {"configs", points.size()},
                                 {"front", front_json(front, a, b)}}));
  return ExitCode::ok;
}

}  // namespace kiln::cli
