// SPDX-License-Identifier: Apache-2.0
#include "db/evidence.hpp"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/field_json.hpp"
#include "db/close_configs.hpp"

namespace kiln {
namespace {

using SortedJson = nlohmann::json;

SortedJson json_of(const Finalist& finalist) {
  SortedJson json = {
      {"config", finalist.config}, {"sequence", finalist.sequence}, {"samples_ns", finalist.ns}};
  if (finalist.median_ns) json["median_ns"] = *finalist.median_ns;
  if (finalist.value) {
    json["value"] = *finalist.value;
    json["values"] = finalist.values;
  }
  return json;
}

SortedJson json_of(const CloseConfig& close) {
  constexpr double kDigits = 1e4;  // more than any measurement tells
  SortedJson json = {{"config", close.config},
                     {"slowdown", std::round(close.slowdown * kDigits) / kDigits}};
  if (close.registers >= 0) json["registers"] = close.registers;
  if (close.shared_bytes >= 0) json["shared_bytes"] = close.shared_bytes;
  return json;
}

SortedJson json_of(const Evidence::Origin& origin) {
  return {{"config", origin.config}, {"from", origin.from}};
}

template <typename Entry>
SortedJson list_json(const std::vector<Entry>& entries) {
  SortedJson list = SortedJson::array();
  for (const Entry& entry : entries) list.push_back(json_of(entry));
  return list;
}

SortedJson json_of(const Evidence::Rival& rival) {
  return {{"library", rival.library},
          {"samples_ns", rival.ns},
          {"best_samples_ns", rival.best_ns},
          {"other_samples_ns", rival.other_ns},
          {"other_best_samples_ns", rival.other_best_ns},
          {"error", rival.error},
          {"best_error", rival.best_error},
          {"verdict", rival.verdict}};
}

/// Keeps the value where the key is absent or of another type.
template <typename T>
void read_key(const SortedJson& json, const char* key, T& value) {
  const auto found = json.find(key);
  if (found == json.end()) return;
  try {
    found->get_to(value);
  } catch (const SortedJson::exception&) {
    return;
  }
}

/// A stranger's number with a point may be too large for a whole one.
void read_key(const SortedJson& json, const char* key, std::int64_t& value) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_number_integer()) value = found->get<std::int64_t>();
}

template <typename T>
void read_key(const SortedJson& json, const char* key, std::optional<T>& value) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_number()) value = found->get<T>();
}

// Each returns whether the entry says what it must say.

bool read_entry(const SortedJson& json, Finalist& finalist) {
  read_key(json, "sequence", finalist.sequence);
  read_key(json, "samples_ns", finalist.ns);
  read_key(json, "median_ns", finalist.median_ns);
  read_key(json, "value", finalist.value);
  read_key(json, "values", finalist.values);
  return true;
}

bool read_entry(const SortedJson& json, CloseConfig& close) {
  read_key(json, "slowdown", close.slowdown);
  read_key(json, "registers", close.registers);
  read_key(json, "shared_bytes", close.shared_bytes);
  const auto slowdown = json.find("slowdown");
  return slowdown != json.end() && slowdown->is_number();
}

bool read_entry(const SortedJson& json, Evidence::Origin& origin) {
  read_key(json, "from", origin.from);
  return true;
}

/// nullopt: there is no such list.
template <typename Entry>
std::optional<std::vector<Entry>> read_list(const SortedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return std::nullopt;
  std::vector<Entry> entries;
  for (const SortedJson& each : *found) {
    if (entries.size() == kMaxListed) break;
    if (!each.is_object() || !each.contains("config") || !each["config"].is_string()) continue;
    Entry entry;
    entry.config = each["config"].get<std::string>();
    if (read_entry(each, entry)) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::string_view name_of(RivalVerdict verdict) {
  switch (verdict) {
    case RivalVerdict::faster:
      return "faster";
    case RivalVerdict::tie:
      return "tie";
    case RivalVerdict::slower:
      return "slower";
    case RivalVerdict::less_exact:
      return "less_exact";
    case RivalVerdict::wrong:
      return "wrong";
  }
  return "?";
}

std::string to_text(const Evidence& evidence) {
  SortedJson json = {{"finalists", list_json(evidence.finalists)}};
  if (!evidence.objective.empty()) json["objective"] = evidence.objective;
  if (!evidence.source.empty()) json["source"] = evidence.source;
  if (evidence.rule) {
    json["rule"] = {{"practical_tie", evidence.rule->practical_tie},
                    {"confidence", evidence.rule->confidence}};
  }
  if (evidence.close) json["close"] = list_json(*evidence.close);
  if (evidence.first) json["first"] = list_json(*evidence.first);
  if (evidence.warm_start) json["warm_start"] = list_json(*evidence.warm_start);
  if (evidence.earlier) {
    json["earlier"] = {{"session", evidence.earlier->session},
                       {"trials", evidence.earlier->trials}};
  }
  if (evidence.rival) json["rival"] = json_of(*evidence.rival);
  if (evidence.time_use) json["time_use"] = SortedJson(field_json(*evidence.time_use));
  if (!evidence.not_tried.empty()) json["not_tried"] = evidence.not_tried;
  return json.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

Evidence read_evidence(const std::string& text) {
  Evidence evidence;
  const SortedJson json = SortedJson::parse(text, nullptr, false);
  if (!json.is_object()) return evidence;
  read_key(json, "objective", evidence.objective);
  read_key(json, "source", evidence.source);
  evidence.finalists = read_list<Finalist>(json, "finalists").value_or(std::vector<Finalist>());
  evidence.close = read_list<CloseConfig>(json, "close");
  evidence.first = read_list<CloseConfig>(json, "first");
  evidence.warm_start = read_list<Evidence::Origin>(json, "warm_start");
  if (const auto rule = json.find("rule"); rule != json.end() && rule->is_object()) {
    evidence.rule.emplace();
    read_key(*rule, "practical_tie", evidence.rule->practical_tie);
    read_key(*rule, "confidence", evidence.rule->confidence);
  }
  if (const auto earlier = json.find("earlier"); earlier != json.end() && earlier->is_object()) {
    evidence.earlier.emplace();
    read_key(*earlier, "session", evidence.earlier->session);
    read_key(*earlier, "trials", evidence.earlier->trials);
  }
  if (const auto rival = json.find("rival"); rival != json.end() && rival->is_object()) {
    Evidence::Rival& read = evidence.rival.emplace();
    read_key(*rival, "library", read.library);
    read_key(*rival, "samples_ns", read.ns);
    read_key(*rival, "best_samples_ns", read.best_ns);
    read_key(*rival, "other_samples_ns", read.other_ns);
    read_key(*rival, "other_best_samples_ns", read.other_best_ns);
    read_key(*rival, "error", read.error);
    read_key(*rival, "best_error", read.best_error);
    read_key(*rival, "verdict", read.verdict);
  }
  if (const auto use = json.find("time_use"); use != json.end() && use->is_object()) {
    evidence.time_use.emplace();
    visit_fields(*evidence.time_use,
                 [&](const char* name, auto& field) { read_key(*use, name, field); });
  }
  if (const auto texts = json.find("not_tried"); texts != json.end() && texts->is_array()) {
    for (const SortedJson& each : *texts) {
      if (each.is_string() && evidence.not_tried.size() < kMaxListed)
        evidence.not_tried.push_back(each.get<std::string>());
    }
  }
  return evidence;
}

}  // namespace kiln
