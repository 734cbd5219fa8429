// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/t4.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/interchange/json_reading.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;
using interchange::find_member;
using interchange::scalar_value;
using interchange::text_member;

// Nanoseconds of the file's unit of time.
double unit_ns(const Json& json, const std::string& path) {
  const Json* metadata = find_member(json, "metadata");
  const std::string unit = metadata == nullptr ? "" : text_member(*metadata, "timeunit");
  if (unit.empty() || unit == "ms" || unit == "milliseconds" || unit == "miliseconds") return 1e6;
  if (unit == "ns" || unit == "nanoseconds") return 1;
  if (unit == "us" || unit == "microseconds") return 1e3;
  if (unit == "s" || unit == "seconds") return 1e9;
  throw InputError({path, 0, 0},
                   fmt::format("expected \"timeunit\" to be seconds, milliseconds, microseconds or "
                               "nanoseconds, not '{}'",
                               unit));
}

Outcome outcome_of(const std::string& invalidity) {
  if (invalidity.empty() || invalidity == "correct") return Outcome::ok;
  if (invalidity == "compile") return Outcome::compile_error;
  if (invalidity == "timeout") return Outcome::run_timeout;
  if (invalidity == "correctness") return Outcome::wrong_result;
  if (invalidity == "constraints") return Outcome::constraint;
  return Outcome::launch_error;  // runtime
}

// One result with the place it has in the file, for messages.
struct Result {
  const Json& json;
  std::size_t number;  // from 1
  const std::string& path;

  [[noreturn]] void refuse(const std::string& expected) const {
    throw InputError({path, 0, 0}, fmt::format("result {}: expected {}", number, expected));
  }
};

std::vector<Value> read_values(const Result& result, std::vector<RecordedTunable>& tunables) {
  const Json* config = find_member(result.json, "configuration");
  if (config == nullptr || !config->is_object() || config->empty()) {
    result.refuse("\"configuration\" to be an object with the tunables' values");
  }
  if (tunables.empty()) {
    for (const auto& [name, value] : config->items()) tunables.push_back({name, {}});
  }
  std::vector<Value> values;
  for (RecordedTunable& tunable : tunables) {
    const Json* member = find_member(*config, tunable.name.c_str());
    const auto value = member == nullptr ? std::nullopt : scalar_value(*member);
    if (!value) result.refuse(fmt::format("a value of {}", tunable.name));
    values.push_back(*value);
    const auto known = std::find(tunable.values.begin(), tunable.values.end(), *value);
    if (known == tunable.values.end()) tunable.values.push_back(*value);
  }
  if (config->size() != tunables.size()) {
    result.refuse(fmt::format("the {} tunables of the first result", tunables.size()));
  }
  return values;
}

std::vector<double> read_samples(const Json& result, double unit) {
  std::vector<double> samples;
  const Json* times = find_member(result, "times");
  const Json* runs = times == nullptr ? nullptr : find_member(*times, "runtimes");
  if (runs == nullptr || !runs->is_array()) return samples;
  for (const Json& run : *runs) {
    if (run.is_number()) samples.push_back(run.get<double>() * unit);
  }
  return samples;
}

// The measurement "time" becomes the trial's time, the others its metrics; without one, the mean of
// the samples is the time.
void read_measurements(const Result& result, double unit, RecordedTrial& trial) {
  std::optional<double> time;
  if (const Json* all = find_member(result.json, "measurements"); all && all->is_array()) {
    for (const Json& measurement : *all) {
      const Json* value = find_member(measurement, "value");
      if (value == nullptr || !value->is_number()) continue;
      const std::string name = text_member(measurement, "name");
      if (name == "time") {
        time = value->get<double>() * unit;
      } else {
        trial.metrics.emplace_back(name, value->get<double>());
      }
    }
  }
  if (!trial.message.empty()) return;
  trial.samples_ns = read_samples(result.json, unit);
  if (!time && !trial.samples_ns.empty()) {
    time = std::accumulate(trial.samples_ns.begin(), trial.samples_ns.end(), 0.0) /
           static_cast<double>(trial.samples_ns.size());
  }
  if (!time || !std::isfinite(*time) || *time <= 0) {
    result.refuse("a measurement \"time\" above 0, as its invalidity is \"correct\"");
  }
  trial.time_ns = *time;
}

RecordedTrial read_trial(const Result& result, double unit,
                         std::vector<RecordedTunable>& tunables) {
  RecordedTrial trial;
  trial.values = read_values(result, tunables);
  const std::string invalidity = text_member(result.json, "invalidity");
  trial.outcome = outcome_of(invalidity);
  if (trial.outcome != Outcome::ok) trial.message = invalidity;
  read_measurements(result, unit, trial);
  trial.taken_at = text_member(result.json, "timestamp");
  return trial;
}

// Numbers ascending, then texts in the order of the file.
bool precedes(const Value& a, const Value& b) {
  const bool a_is_text = std::holds_alternative<std::string>(a);
  const bool b_is_text = std::holds_alternative<std::string>(b);
  if (a_is_text || b_is_text) return !a_is_text && b_is_text;
  return as_double(a) < as_double(b);
}

}  // namespace

bool is_t4(std::string_view text) {
  return text.find("\"results\"") != std::string_view::npos &&
         text.find("\"configuration\"") != std::string_view::npos;
}

RecordedTrials read_t4(std::string_view text, const std::string& path) {
  const Json json = interchange::parse_json(text, path);
  const Json* results = find_member(json, "results");
  if (results == nullptr || !results->is_array() || results->empty()) {
    throw InputError({path, 0, 0}, "expected \"results\" to be a list with at least one result");
  }
  const double unit = unit_ns(json, path);
  RecordedTrials recorded;
  recorded.path = path;
  for (std::size_t i = 0; i < results->size(); ++i) {
    recorded.trials.push_back(read_trial({(*results)[i], i + 1, path}, unit, recorded.tunables));
  }
  for (RecordedTunable& tunable : recorded.tunables) {
    std::stable_sort(tunable.values.begin(), tunable.values.end(), precedes);
  }
  return recorded;
}

}  // namespace kiln
