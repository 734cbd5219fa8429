// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/kernel_tuner_cache.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/interchange/json_reading.hpp"

namespace kiln {
namespace {

// Not ordered_json: that one looks at every key again for each new trial.
using Json = nlohmann::json;
using interchange::find_member;
using interchange::scalar_value;
using interchange::text_member;

constexpr double kNsPerMs = 1e6;
constexpr double kFailedMs = 1e20;  // how early versions of Kernel Tuner wrote a failure

// The keys of a trial that are no metrics.
const char* const kOwnKeys[] = {
    "time",          "times",          "compile_time", "benchmark_time",
    "strategy_time", "framework_time", "timestamp",    "verification_time"};

// Without what an interrupted Kernel Tuner had no time to write.
std::string closed(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n,");
  return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1)) + "}}";
}

Json parse(std::string_view text, const std::string& path) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    Json repaired = Json::parse(closed(text), nullptr, false);
    if (!repaired.is_discarded()) return repaired;
    interchange::throw_not_json(text, path, error.byte);
  } catch (const Json::out_of_range& error) {  // a number that no double holds
    throw InputError({path, 0, 0}, error.what());
  }
}

const Json& expect(const Json& object, const char* key, Json::value_t type,
                   const std::string& path) {
  const Json* member = find_member(object, key);
  if (member != nullptr && member->type() == type) return *member;
  throw InputError({path, 0, 0},
                   fmt::format("expected \"{}\" to be {}", key,
                               type == Json::value_t::array ? "a list" : "an object"));
}

std::vector<RecordedTunable> read_tunables(const Json& json, const std::string& path) {
  const Json& values = expect(json, "tune_params", Json::value_t::object, path);
  std::vector<RecordedTunable> tunables;
  for (const Json& key : expect(json, "tune_params_keys", Json::value_t::array, path)) {
    RecordedTunable tunable;
    if (key.is_string()) tunable.name = key.get<std::string>();
    const Json* list = find_member(values, tunable.name.c_str());
    if (list == nullptr || !list->is_array() || list->empty()) {
      throw InputError(
          {path, 0, 0},
          fmt::format("expected \"tune_params\" to list the values of {}", key.dump()));
    }
    for (const Json& value : *list) {
      const auto scalar = scalar_value(value);
      if (!scalar) {
        throw InputError({path, 0, 0},
                         fmt::format("expected the values of {} to be numbers, texts or booleans, "
                                     "not {}",
                                     tunable.name, value.dump()));
      }
      tunable.values.push_back(*scalar);
    }
    tunables.push_back(std::move(tunable));
  }
  return tunables;
}

Outcome outcome_of(const std::string& word) {
  if (word == "CompilationFailedConfig") return Outcome::compile_error;
  if (word == "RuntimeFailedConfig") return Outcome::launch_error;
  return Outcome::constraint;  // InvalidConfig: a restriction broke
}

void read_time(const Json& row, RecordedTrial& trial, const SourceLocation& where,
               const std::string& key) {
  const Json* time = find_member(row, "time");
  if (time != nullptr && time->is_string()) {
    trial.message = time->get<std::string>();
    trial.outcome = outcome_of(trial.message);
    return;
  }
  const double ms = time != nullptr && time->is_number() ? time->get<double>() : -1;
  if (ms >= kFailedMs) {
    trial.outcome = Outcome::launch_error;
    trial.message = "RuntimeFailedConfig";
    return;
  }
  if (!std::isfinite(ms) || ms <= 0) {
    throw InputError(where, fmt::format("trial '{}': expected \"time\" to be milliseconds above 0 "
                                        "or the name of a failure",
                                        key));
  }
  trial.time_ns = ms * kNsPerMs;
  if (const Json* times = find_member(row, "times"); times != nullptr && times->is_array()) {
    for (const Json& sample : *times) {
      if (sample.is_number()) trial.samples_ns.push_back(sample.get<double>() * kNsPerMs);
    }
  }
}

bool is_metric(const std::string& name, const std::vector<RecordedTunable>& tunables) {
  return std::find(std::begin(kOwnKeys), std::end(kOwnKeys), name) == std::end(kOwnKeys) &&
         std::none_of(tunables.begin(), tunables.end(),
                      [&](const RecordedTunable& tunable) { return tunable.name == name; });
}

RecordedTrial read_trial(const std::string& key, const Json& row,
                         const std::vector<RecordedTunable>& tunables, const std::string& path) {
  RecordedTrial trial;
  for (const RecordedTunable& tunable : tunables) {
    const Json* member = find_member(row, tunable.name.c_str());
    const auto value = member == nullptr ? std::nullopt : scalar_value(*member);
    if (!value) {
      throw InputError({path, 0, 0},
                       fmt::format("trial '{}': expected a value of {}", key, tunable.name));
    }
    if (std::find(tunable.values.begin(), tunable.values.end(), *value) == tunable.values.end()) {
      throw InputError({path, 0, 0}, fmt::format("trial '{}': {} is none of the values of {}", key,
                                                 to_text(*value), tunable.name));
    }
    trial.values.push_back(*value);
  }
  read_time(row, trial, {path, 0, 0}, key);
  for (const auto& [name, value] : row.items()) {
    if (value.is_number() && is_metric(name, tunables)) {
      trial.metrics.emplace_back(name, value.get<double>());
    }
  }
  trial.taken_at = text_member(row, "timestamp");
  return trial;
}

// "4096 4096" from a list, a number or a text.
std::string problem_text(const Json& json) {
  const Json* problem = find_member(json, "problem_size");
  if (problem == nullptr) return "";
  if (problem->is_string()) return problem->get<std::string>();
  if (!problem->is_array()) return problem->dump();
  std::string text;
  for (const Json& size : *problem) {
    text += (text.empty() ? "" : " ") + (size.is_string() ? size.get<std::string>() : size.dump());
  }
  return text;
}

}  // namespace

bool is_kernel_tuner_cache(std::string_view text) {
  return text.find("\"tune_params_keys\"") != std::string_view::npos &&
         text.find("\"cache\"") != std::string_view::npos;
}

RecordedTrials read_kernel_tuner_cache(std::string_view text, const std::string& path) {
  const Json json = parse(text, path);
  RecordedTrials recorded;
  recorded.path = path;
  recorded.kernel = text_member(json, "kernel_name");
  recorded.device = text_member(json, "device_name");
  recorded.problem = problem_text(json);
  recorded.tunables = read_tunables(json, path);
  for (const auto& [key, row] : expect(json, "cache", Json::value_t::object, path).items()) {
    recorded.trials.push_back(read_trial(key, row, recorded.tunables, path));
  }
  if (recorded.trials.empty()) throw InputError({path, 0, 0}, "the cache holds no trial");
  std::stable_sort(
      recorded.trials.begin(), recorded.trials.end(),
      [](const RecordedTrial& a, const RecordedTrial& b) { return a.taken_at < b.taken_at; });
  return recorded;
}

}  // namespace kiln
