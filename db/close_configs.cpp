// SPDX-License-Identifier: Apache-2.0
#include "db/close_configs.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/json.hpp"

namespace kiln {
namespace {

std::vector<const TrialRecord*> by_time(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> ordered;
  for (const TrialRecord& record : trials) {
    if (record.trial.ok() && record.trial.time_ns > 0) ordered.push_back(&record);
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
    return a->trial.time_ns != b->trial.time_ns ? a->trial.time_ns < b->trial.time_ns
                                                : a->sequence < b->sequence;
  });
  return ordered;
}

/// The lists in a row's evidence, with what is read of their entries: samples and reports, which
/// are most of it, are passed over. Discarded when it is no JSON.
Json lists_in(const std::string& evidence) {
  constexpr int kOfEvidence = 1;
  constexpr int kOfEntry = 3;
  const auto is_read = [](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event != Json::parse_event_t::key) return true;
    if (depth == kOfEvidence)
      return parsed == "finalists" || parsed == "close" || parsed == "first";
    return depth != kOfEntry || parsed == "config" || parsed == "median_ns" ||
           parsed == "slowdown" || parsed == "registers" || parsed == "shared_bytes";
  };
  return Json::parse(evidence, is_read, /*allow_exceptions=*/false);
}

std::int64_t number_in(const Json& entry, const char* key) {
  constexpr std::int64_t kMost = 1 << 30;
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number_integer()) return -1;
  const auto number = found->get<std::int64_t>();
  return number >= 0 && number <= kMost ? number : -1;
}

// A config that is named twice keeps its first slowdown.
void add(std::vector<CloseConfig>& list, const Json& entry, const char* key, double unit) {
  if (!entry.is_object() || !entry.contains("config") || !entry["config"].is_string()) return;
  if (!entry.contains(key) || !entry[key].is_number() || unit <= 0) return;
  const auto config = entry["config"].get<std::string>();
  const double slowdown = std::max(1.0, entry[key].get<double>() / unit);
  auto known = std::find_if(list.begin(), list.end(),
                            [&](const CloseConfig& other) { return other.config == config; });
  if (known == list.end()) known = list.insert(list.end(), {config, slowdown});
  known->registers = std::max(known->registers, number_in(entry, "registers"));
  known->shared_bytes = std::max(known->shared_bytes, number_in(entry, "shared_bytes"));
}

void add_all(std::vector<CloseConfig>& list, const Json& lists, const char* name, const char* key,
             double unit) {
  if (!lists.is_object() || !lists.contains(name) || !lists[name].is_array()) return;
  const Json& entries = lists[name];
  const std::size_t read = std::min(entries.size(), kMaxListed);
  for (std::size_t i = 0; i < read; ++i) add(list, entries[i], key, unit);
}

std::vector<CloseConfig> close_in(const BestRecord& best, const Json& lists) {
  std::vector<CloseConfig> list = {{best.config.text(), 1}};
  // The finals were measured in turns: their medians compare better than those of the search.
  add_all(list, lists, "finalists", "median_ns", best.time_ns);
  add_all(list, lists, "close", "slowdown", 1);
  return list;
}

Json entry_of(const Trial& trial, double slowdown) {
  constexpr double kDigits = 1e4;  // more than any measurement tells
  Json entry = {{"config", trial.config.text()},
                {"slowdown", std::round(slowdown * kDigits) / kDigits}};
  if (trial.registers >= 0) entry["registers"] = trial.registers;
  if (trial.shared_bytes >= 0) entry["shared_bytes"] = trial.shared_bytes;
  return entry;
}

}  // namespace

std::vector<const TrialRecord*> close_trials(const std::vector<TrialRecord>& trials) {
  std::vector<const TrialRecord*> close;
  for (const TrialRecord* record : by_time(trials)) {
    if (close.size() == kMaxClose) break;
    if (!close.empty() && record->trial.time_ns > kCloseFactor * close.front()->trial.time_ns)
      break;
    close.push_back(record);
  }
  return close;
}

std::string with_close_configs(const std::string& evidence,
                               const std::vector<TrialRecord>& trials) {
  Json json = Json::parse(evidence, nullptr, false);
  if (!json.is_object()) return evidence;
  Json close = Json::array();
  Json first = Json::array();
  const std::vector<const TrialRecord*> ordered = by_time(trials);
  const std::size_t closest = close_trials(trials).size();
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (i >= closest && ordered[i]->sequence > kFirstTrials) continue;
    const double slowdown = ordered[i]->trial.time_ns / ordered.front()->trial.time_ns;
    (i < closest ? close : first).push_back(entry_of(ordered[i]->trial, slowdown));
  }
  json["close"] = std::move(close);
  json["first"] = std::move(first);
  return json.dump();
}

std::vector<CloseConfig> close_configs(const BestRecord& best) {
  return close_in(best, lists_in(best.evidence));
}

std::vector<CloseConfig> known_configs(const BestRecord& best) {
  const Json lists = lists_in(best.evidence);
  std::vector<CloseConfig> list = close_in(best, lists);
  add_all(list, lists, "first", "slowdown", 1);
  return list;
}

}  // namespace kiln
