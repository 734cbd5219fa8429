// Trials as columns, which take a tenth of the room that a list of objects takes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "cli/report/report.hpp"
#include "core/statistics.hpp"
#include "core/value.hpp"

namespace kiln::cli {
namespace {

/// More values than these make no axis.
constexpr std::size_t kMostValues = 64;

/// Texts, each with its place in the order of first use.
class PlacedTexts {
 public:
  std::size_t place_of(const std::string& text) {
    const auto [found, is_new] = places_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> texts_;
};

bool comes_before(const Value& a, const Value& b) {
  const bool a_is_text = std::holds_alternative<std::string>(a);
  const bool b_is_text = std::holds_alternative<std::string>(b);
  if (a_is_text != b_is_text) return b_is_text;
  return a_is_text ? std::get<std::string>(a) < std::get<std::string>(b)
                   : as_double(a) < as_double(b);
}

/// The values of one tunable in the order of their axis.
class TunableAxis {
 public:
  TunableAxis(const std::vector<TrialRecord>& trials, std::string name) : name_(std::move(name)) {
    std::map<std::string, Value> values;
    for (const TrialRecord& row : trials) {
      if (const Value* value = row.trial.config.find(name_))
        values.emplace(to_text(*value), *value);
    }
    for (const auto& [text, value] : values) values_.push_back(value);
    std::stable_sort(values_.begin(), values_.end(), comes_before);
    for (std::size_t i = 0; i < values_.size(); ++i) places_[to_text(values_[i])] = i;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

  /// -1: the config has no such tunable.
  [[nodiscard]] std::int64_t place_in(const Config& config) const {
    const Value* value = config.find(name_);
    return value == nullptr ? -1 : static_cast<std::int64_t>(places_.at(to_text(*value)));
  }

  [[nodiscard]] Json json() const {
    Json list = Json::array();
    for (const Value& value : values_) list.push_back(axis_value(value));
    return {{"name", name_}, {"values", std::move(list)}};
  }

  /// Numbers stay numbers; truth values are words on an axis.
  [[nodiscard]] static Json axis_value(const Value& value) {
    return std::holds_alternative<bool>(value) ? Json(to_text(value)) : to_json(value);
  }

 private:
  std::string name_;
  std::vector<Value> values_;
  std::map<std::string, std::size_t> places_;
};

Json spread_row(const std::string& variant, const TunableAxis& axis, std::size_t place,
                std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {{"variant", variant},
          {"tunable", axis.name()},
          {"value", TunableAxis::axis_value(axis.values()[place])},
          {"trials", times.size()},
          {"fastest_ns", times.front()},
          {"q1_ns", times[times.size() / 4]},
          {"median_ns", median(times)},
          {"q3_ns", times[3 * times.size() / 4]}};
}

Json spread_json(const std::vector<TrialRecord>& trials, const std::vector<std::string>& variants,
                 const std::vector<TunableAxis>& axes) {
  Json spread = Json::array();
  for (const std::string& variant : variants) {
    for (const TunableAxis& axis : axes) {
      if (axis.values().size() > kMostValues) continue;
      std::vector<std::vector<double>> times(axis.values().size());
      for (const TrialRecord& row : trials) {
        if (!row.trial.ok() || row.trial.config.variant != variant) continue;
        const std::int64_t place = axis.place_in(row.trial.config);
        if (place >= 0) times[static_cast<std::size_t>(place)].push_back(row.trial.time_ns);
      }
      for (std::size_t place = 0; place < times.size(); ++place) {
        if (!times[place].empty())
          spread.push_back(spread_row(variant, axis, place, std::move(times[place])));
      }
    }
  }
  return spread;
}

}  // namespace

Json trial_columns_json(const std::vector<TrialRecord>& trials) {
  std::vector<TunableAxis> axes;
  for (std::string& name : tunable_names(trials)) axes.emplace_back(trials, std::move(name));
  PlacedTexts variants;
  PlacedTexts outcomes;
  Json rows = {{"trial", Json::array()},     {"variant", Json::array()},
               {"outcome", Json::array()},   {"time_ns", Json::array()},
               {"verify_ns", Json::array()}, {"measure_ns", Json::array()}};
  for (const TrialRecord& row : trials) {
    rows["trial"].push_back(row.sequence);
    rows["variant"].push_back(variants.place_of(row.trial.config.variant));
    rows["outcome"].push_back(outcomes.place_of(std::string(name_of(row.trial.outcome))));
    rows["time_ns"].push_back(row.trial.time_ns);
    rows["verify_ns"].push_back(row.trial.cost.verify_ns);
    rows["measure_ns"].push_back(row.trial.cost.measure_ns);
  }
  Json values = Json::array();
  Json tunables = Json::array();
  for (const TunableAxis& axis : axes) {
    Json column = Json::array();
    for (const TrialRecord& row : trials) column.push_back(axis.place_in(row.trial.config));
    values.push_back(std::move(column));
    tunables.push_back(axis.json());
  }
  rows["values"] = std::move(values);
  return {{"variants", variants.texts()},
          {"outcomes", outcomes.texts()},
          {"tunables", std::move(tunables)},
          {"spread", spread_json(trials, variants.texts(), axes)},
          {"rows", std::move(rows)}};
}

}  // namespace kiln::cli
