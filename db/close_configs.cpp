// SPDX-License-Identifier: Apache-2.0
#include "db/close_configs.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "db/json_parts.hpp"

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

/// The lists in a row's evidence, as text.
struct Lists {
  std::string_view finalists;
  std::string_view close;
  std::string_view first;
};

/// nullopt of evidence that cannot be read.
std::optional<Lists> lists_in(std::string_view evidence) {
  Lists lists;
  const bool read = for_each_member(evidence, [&](std::string_view key, std::string_view value) {
    if (key == "finalists") lists.finalists = value;
    if (key == "close") lists.close = value;
    if (key == "first") lists.first = value;
  });
  return read ? std::optional(lists) : std::nullopt;
}

void add(std::vector<CloseConfig>& list, std::string_view entry, std::string_view key,
         double unit) {
  std::optional<std::string> config;
  std::optional<double> number;
  const bool read = for_each_member(entry, [&](std::string_view name, std::string_view value) {
    if (name == "config") config = json_string(value);
    if (name == key) number = json_number(value);
  });
  if (!read || !config || !number || unit <= 0) return;
  const bool known = std::any_of(list.begin(), list.end(),
                                 [&](const CloseConfig& other) { return other.config == *config; });
  if (!known) list.push_back({*std::move(config), std::max(1.0, *number / unit)});
}

void add_all(std::vector<CloseConfig>& list, std::string_view entries, std::string_view key,
             double unit) {
  std::size_t read = 0;
  (void)for_each_element(entries, [&](std::string_view entry) {
    add(list, entry, key, unit);
    return ++read < kMaxListed;
  });
}

std::vector<CloseConfig> close_in(const BestRecord& best, const std::optional<Lists>& lists) {
  std::vector<CloseConfig> list = {{best.config.text(), 1}};
  if (!lists) return list;
  // The finals were measured in turns: their medians compare better than those of the search.
  add_all(list, lists->finalists, "median_ns", best.time_ns);
  add_all(list, lists->close, "slowdown", 1);
  return list;
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
    (i < closest ? close : first)
        .push_back({{"config", ordered[i]->trial.config.text()}, {"slowdown", slowdown}});
  }
  json["close"] = std::move(close);
  json["first"] = std::move(first);
  return json.dump();
}

std::vector<CloseConfig> close_configs(const BestRecord& best) {
  return close_in(best, lists_in(best.evidence));
}

std::vector<CloseConfig> known_configs(const BestRecord& best) {
  const std::optional<Lists> lists = lists_in(best.evidence);
  std::vector<CloseConfig> list = close_in(best, lists);
  if (lists) add_all(list, lists->first, "slowdown", 1);
  return list;
}

}  // namespace kiln
