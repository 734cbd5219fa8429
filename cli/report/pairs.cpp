// Two sides of a report: sessions of one kernel and problem, put beside each other.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include "cli/report/report.hpp"

namespace kiln::cli {
namespace {

using SubjectKey = std::tuple<std::string, std::string, Timing>;  // kernel, problem, timing

/// The newest session with a best of each kernel and problem of one side.
std::map<SubjectKey, std::size_t> subjects_of(const Report& report, std::size_t side) {
  std::map<SubjectKey, std::size_t> newest;
  for (std::size_t i = 0; i < report.sessions.size(); ++i) {
    const ReportedSession& session = report.sessions[i];
    if (session.side != side || !session.shown.best || session.shown.best->time_ns <= 0) continue;
    const SessionKey& key = session.shown.record.key;
    newest[{key.kernel, key.problem, key.timing}] = i;
  }
  return newest;
}

std::optional<RatioInterval> best_interval(const ShownSession& shown) {
  for (const Finalist& each : shown.finalists) {
    if (each.config == shown.best->config.text()) return median_interval(each.ns);
  }
  return std::nullopt;
}

std::vector<CommonConfig> common_configs(const ShownSession& a, const ShownSession& b) {
  std::map<std::string, double> times;
  for (const TrialRecord& row : a.trials) {
    if (row.trial.ok() && row.trial.time_ns > 0) times[row.trial.config.text()] = row.trial.time_ns;
  }
  std::vector<CommonConfig> common;
  for (const TrialRecord& row : b.trials) {
    if (!row.trial.ok() || row.trial.time_ns <= 0) continue;
    const auto found = times.find(row.trial.config.text());
    if (found != times.end()) common.push_back({found->first, found->second, row.trial.time_ns});
  }
  return common;
}

ReportedPair pair_of(const Report& report, std::size_t a, std::size_t b) {
  const ShownSession& one = report.sessions[a].shown;
  const ShownSession& other = report.sessions[b].shown;
  ReportedPair pair{.a = a, .b = b, .ratio = other.best->time_ns / one.best->time_ns};
  const auto bounds_a = best_interval(one);
  const auto bounds_b = best_interval(other);
  pair.faster = "not known";
  if (bounds_a && bounds_b && bounds_a->low > 0 && bounds_b->low > 0) {
    pair.low = bounds_b->low / bounds_a->high;
    pair.high = bounds_b->high / bounds_a->low;
    pair.faster = "neither";
    if (*pair.low > 1) pair.faster = report.sides[0];
    if (*pair.high < 1) pair.faster = report.sides[1];
  }
  pair.same_config = one.best->config == other.best->config;
  pair.common = common_configs(one, other);
  return pair;
}

}  // namespace

void pair_sessions(Report& report) {
  const auto ones = subjects_of(report, 0);
  for (const auto& [key, other] : subjects_of(report, 1)) {
    const auto found = ones.find(key);
    if (found != ones.end()) report.pairs.push_back(pair_of(report, found->second, other));
  }
}

void split_by_driver(Report& report) {
  std::vector<std::string> drivers;  // the one of the newest session last
  for (const ReportedSession& session : report.sessions) {
    const std::string& driver = session.shown.record.key.driver;
    std::erase(drivers, driver);
    drivers.push_back(driver);
  }
  if (drivers.size() < 2) return;
  const std::string& newer = drivers.back();
  const std::string& older = drivers[drivers.size() - 2];
  constexpr std::size_t kNoSide = 2;
  for (ReportedSession& session : report.sessions) {
    const std::string& driver = session.shown.record.key.driver;
    session.side = driver == older ? 0 : driver == newer ? 1 : kNoSide;
  }
  report.sides = {"driver " + older, "driver " + newer};
  pair_sessions(report);
}

}  // namespace kiln::cli
