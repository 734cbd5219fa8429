// SPDX-License-Identifier: Apache-2.0
#include "interchange/kernel_tuner_cache.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/separated_number.hpp"
#include "interchange/failure_words.hpp"
#include "interchange/json_reading.hpp"
#include "interchange/json_rows.hpp"
#include "interchange/objective.hpp"
#include "interchange/time_unit.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;
using interchange::find_member;
using interchange::JsonRow;
using interchange::kNsPerMs;
using interchange::number_value;
using interchange::scalar_value;
using interchange::shown;
using interchange::text_member;

constexpr double kFailedMs = 1e20;  // how early versions of Kernel Tuner wrote a failure
constexpr const char* kErrorKey = "__error__";

// The keys of a trial that are no metrics.
const char* const kOwnKeys[] = {
    "time",           "times",     "compile_time",      "benchmark_time", "strategy_time",
    "framework_time", "timestamp", "verification_time", kErrorKey};

const Json& expect(const Json& object, const char* key, Json::value_t type,
                   const std::string& path) {
  const Json* member = find_member(object, key);
  if (member != nullptr && member->type() == type) return *member;
  throw InputError({path, 0, 0},
                   fmt::format("expected \"{}\" to be {}", key,
                               type == Json::value_t::array ? "a list" : "an object"));
}

RecordedTunable read_tunable(const Json& key, const Json& lists, const std::string& path) {
  RecordedTunable tunable;
  if (key.is_string()) tunable.name = key.get<std::string>();
  const Json* list = find_member(lists, tunable.name.c_str());
  if (list == nullptr || !list->is_array() || list->empty()) {
    throw InputError({path, 0, 0},
                     fmt::format("expected \"tune_params\" to list the values of {}", shown(&key)));
  }
  for (const Json& value : *list) {
    const auto scalar = scalar_value(value);
    if (!scalar) {
      throw InputError({path, 0, 0},
                       fmt::format("expected the values of {} to be numbers, texts or booleans, "
                                   "not {}",
                                   tunable.name, shown(&value)));
    }
    tunable.values.push_back(*scalar);
  }
  return tunable;
}

std::vector<RecordedTunable> read_tunables(const Json& json, const std::string& path) {
  const Json& lists = expect(json, "tune_params", Json::value_t::object, path);
  std::vector<RecordedTunable> tunables;
  for (const Json& key : expect(json, "tune_params_keys", Json::value_t::array, path)) {
    RecordedTunable tunable = read_tunable(key, lists, path);
    const bool known = std::any_of(tunables.begin(), tunables.end(),
                                   [&](const auto& each) { return each.name == tunable.name; });
    if (known) {
      throw InputError({path, 0, 0},
                       fmt::format("\"tune_params_keys\" names {} twice", tunable.name));
    }
    tunables.push_back(std::move(tunable));
  }
  return tunables;
}

/// Reads the rows of one cache.
class CacheReader {
 public:
  CacheReader(RecordedTrials& recorded, const Json& head, double unit_ns)
      : recorded_(recorded), objective_(text_member(head, "objective")), unit_ns_(unit_ns) {}

  /// A row that cannot be read becomes a message.
  void read(const JsonRow& row) {
    try {
      recorded_.trials.push_back(read_trial(row));
    } catch (const InputError& error) {
      recorded_.bad.emplace_back(error.what());
    }
  }

 private:
  [[noreturn]] static void refuse(const JsonRow& row, const std::string& message) {
    throw InputError(row.where, fmt::format("trial '{}': {}", row.key, message));
  }

  [[nodiscard]] RecordedTrial read_trial(const JsonRow& row) const {
    if (!row.json.is_object()) {
      refuse(row, "expected an object, found " + shown(&row.json));
    }
    RecordedTrial trial;
    for (const RecordedTunable& tunable : recorded_.tunables) {
      trial.values.push_back(value_of(row, tunable));
    }
    read_result(row, trial);
    for (const auto& [name, value] : row.json.items()) {
      if (!value.is_number() || !is_metric(name)) continue;
      if (const auto number = value.get<double>(); std::isfinite(number))
        trial.metrics.emplace_back(name, number);
    }
    std::sort(trial.metrics.begin(), trial.metrics.end());
    trial.taken_at = text_member(row.json, "timestamp");
    return trial;
  }

  /// The listed value, in whichever spelling the row has it.
  [[nodiscard]] static Value value_of(const JsonRow& row, const RecordedTunable& tunable) {
    const Json* member = find_member(row.json, tunable.name.c_str());
    const auto value = member == nullptr ? std::nullopt : scalar_value(*member);
    if (!value) refuse(row, "expected a value of " + tunable.name + ", found " + shown(member));
    const auto exact = std::find(tunable.values.begin(), tunable.values.end(), *value);
    if (exact != tunable.values.end()) return *exact;
    const auto same = std::find_if(tunable.values.begin(), tunable.values.end(),
                                   [&](const Value& each) { return is_same_value(each, *value); });
    if (same != tunable.values.end()) return *same;
    refuse(row, fmt::format("{} is none of the values of {}", to_text(*value), tunable.name));
  }

  static void fail(const JsonRow& row, const std::string& word, RecordedTrial& trial) {
    if (!word.empty() && separated_number(word) == word)
      refuse(row, fmt::format("the number '{}' has separators; expected digits alone", word));
    const auto outcome = interchange::outcome_of_word(word);
    if (!outcome || *outcome == Outcome::ok) {
      refuse(row, fmt::format("'{}' is no failure that is known here; expected a time or "
                              "InvalidConfig, CompilationFailedConfig, RuntimeFailedConfig",
                              word));
    }
    trial.outcome = *outcome;
    trial.message = word;
  }

  /// Current versions of Kernel Tuner write a failure into "__error__", earlier ones in place of
  /// the objective's value.
  void read_result(const JsonRow& row, RecordedTrial& trial) const {
    const Json* error = find_member(row.json, kErrorKey);
    if (error != nullptr) {
      if (!error->is_string()) {
        refuse(row, "expected \"__error__\" to be the name of a failure, found " + shown(error));
      }
      return fail(row, error->get<std::string>(), trial);
    }
    const Json* time = find_member(row.json, "time");
    if (time == nullptr && recorded_.other_objective.empty()) {
      time = find_member(row.json, objective_.c_str());
    }
    const Json* objective =
        objective_.empty() ? nullptr : find_member(row.json, objective_.c_str());
    const auto is_word = [](const Json* json) {
      return json != nullptr && json->is_string() && !number_value(*json);
    };
    if (is_word(objective)) return fail(row, objective->get<std::string>(), trial);
    if (is_word(time)) return fail(row, time->get<std::string>(), trial);
    for (const auto& [name, value] : row.json.items()) {
      const bool is_failure = value.is_string() && is_metric(name) &&
                              value.get_ref<const std::string&>().ends_with("FailedConfig");
      if (is_failure) return fail(row, value.get<std::string>(), trial);
    }
    const bool needs_no_time = objective != nullptr && !recorded_.other_objective.empty();
    if (time == nullptr && needs_no_time) return read_samples(row, trial);
    read_time(row, time, trial);
  }

  void read_time(const JsonRow& row, const Json* time, RecordedTrial& trial) const {
    const double number = time == nullptr ? -1 : number_value(*time).value_or(-1);
    if (number >= kFailedMs) return fail(row, "RuntimeFailedConfig", trial);
    if (!std::isfinite(number) || number <= 0) {
      const auto found = row.json.find("time");
      refuse(row, "expected \"time\" to be a number above 0 or the name of a failure, found " +
                      shown(found == row.json.end() ? nullptr : &*found));
    }
    trial.time_ns = number * unit_ns_;
    read_samples(row, trial);
  }

  void read_samples(const JsonRow& row, RecordedTrial& trial) const {
    const Json* times = find_member(row.json, "times");
    if (times == nullptr || !times->is_array()) return;
    for (const Json& sample : *times) {
      if (const auto number = number_value(sample)) {
        trial.samples_ns.push_back(*number * unit_ns_);
      }
    }
  }

  [[nodiscard]] bool is_metric(const std::string& name) const {
    return std::find(std::begin(kOwnKeys), std::end(kOwnKeys), name) == std::end(kOwnKeys) &&
           std::none_of(recorded_.tunables.begin(), recorded_.tunables.end(),
                        [&](const RecordedTunable& tunable) { return tunable.name == name; });
  }

  RecordedTrials& recorded_;
  std::string objective_;
  double unit_ns_;
};

// "4096 4096" from a list, a number or a text.
std::string problem_text(const Json& json) {
  const Json* problem = find_member(json, "problem_size");
  if (problem == nullptr) return "";
  if (problem->is_string()) return problem->get<std::string>();
  if (!problem->is_array()) return shown(problem);
  std::string text;
  for (const Json& size : *problem) {
    text += (text.empty() ? "" : " ") + (size.is_string() ? size.get<std::string>() : shown(&size));
  }
  return text;
}

}  // namespace

bool is_kernel_tuner_cache(std::string_view text) {
  return text.find("\"tune_params_keys\"") != std::string_view::npos &&
         text.find("\"cache\"") != std::string_view::npos;
}

RecordedTrials read_kernel_tuner_cache(std::string_view text, const std::string& path) {
  interchange::JsonRows file = interchange::parse_rows(text, path, "cache", "trial");
  RecordedTrials recorded;
  recorded.path = path;
  recorded.kernel = text_member(file.head, "kernel_name");
  recorded.device = text_member(file.head, "device_name");
  recorded.problem = problem_text(file.head);
  recorded.tunables = read_tunables(file.head, path);
  recorded.other_objective =
      interchange::other_objective(find_member(file.head, "objective"), file.head);
  recorded.bad = std::move(file.bad);
  // Kernel Tuner measures in milliseconds; a file that states another unit has it.
  CacheReader reader(recorded, file.head,
                     interchange::stated_unit(file.head, path).value_or(kNsPerMs));
  for (const JsonRow& row : file.rows) reader.read(row);
  if (recorded.trials.empty() && recorded.bad.empty()) {
    throw InputError({path, 0, 0}, "the cache holds no trial");
  }
  std::stable_sort(
      recorded.trials.begin(), recorded.trials.end(),
      [](const RecordedTrial& a, const RecordedTrial& b) { return a.taken_at < b.taken_at; });
  drop_contradictions(recorded);
  return recorded;
}

}  // namespace kiln
