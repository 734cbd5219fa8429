// SPDX-License-Identifier: Apache-2.0
#include "interchange/t4.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "interchange/failure_words.hpp"
#include "interchange/json_reading.hpp"
#include "interchange/json_rows.hpp"
#include "interchange/objective.hpp"
#include "interchange/recorded_rows.hpp"
#include "interchange/time_unit.hpp"
#include "interchange/tunable_values.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;
using interchange::find_member;
using interchange::JsonRow;
using interchange::kNsPerMs;
using interchange::number_value;
using interchange::scalar_value;
using interchange::shown;
using interchange::stated_unit;
using interchange::text_member;

/// Reads the results of one file.
class T4Reader {
 public:
  T4Reader(const Json& head, RecordedTrials& recorded) : recorded_(recorded) {
    const Json* metadata = find_member(head, "metadata");
    if (metadata != nullptr) stated_ns_ = stated_unit(*metadata, recorded.path);
    if (!stated_ns_) stated_ns_ = stated_unit(head, recorded.path);
    direction_ = metadata != nullptr ? interchange::other_objective(nullptr, *metadata) : "";
  }

  /// Throws InputError with the place of the fault.
  [[nodiscard]] RecordedTrial read(const JsonRow& row) {
    if (!row.json.is_object()) refuse(row, "expected an object, found " + shown(&row.json));
    RecordedTrial trial;
    trial.values = read_values(row);
    read_validity(row, trial);
    note_objective(row);
    read_measurements(row, trial);
    trial.taken_at = text_member(row.json, "timestamp");
    return trial;
  }

  void finish() {
    if (recorded_.other_objective.empty()) recorded_.other_objective = direction_;
    if (!took_milliseconds_) return;
    recorded_.notes.push_back(fmt::format(
        "{}: states no unit of time: taken as milliseconds, as Kernel Tuner writes them",
        recorded_.path));
  }

 private:
  [[noreturn]] static void refuse(const JsonRow& row, const std::string& message) {
    throw InputError(row.where, fmt::format("result {}: {}", row.key, message));
  }

  [[nodiscard]] std::vector<Value> read_values(const JsonRow& row) {
    const Json* config = find_member(row.json, "configuration");
    if (config == nullptr || !config->is_object() || config->empty()) {
      refuse(row, "expected \"configuration\" to be an object with the tunables' values");
    }
    std::vector<RecordedTunable>& tunables = recorded_.tunables;
    if (tunables.empty()) {
      for (const auto& [name, value] : config->items()) tunables.push_back({name, {}});
    }
    std::vector<Value> values;
    for (const RecordedTunable& tunable : tunables) {
      const Json* member = find_member(*config, tunable.name.c_str());
      const auto value = member == nullptr ? std::nullopt : scalar_value(*member);
      if (!value) {
        refuse(row, fmt::format("expected a value of {}, found {}", tunable.name, shown(member)));
      }
      values.push_back(*value);
    }
    if (config->size() != tunables.size()) {
      refuse(row, fmt::format("expected the {} tunables of the first result", tunables.size()));
    }
    interchange::learn_values(tunables, values);
    return values;
  }

  /// `invalidity` and `correctness` must not contradict each other.
  static void read_validity(const JsonRow& row, RecordedTrial& trial) {
    const Json* member = find_member(row.json, "invalidity");
    if (member != nullptr && !member->is_string()) {
      refuse(row, "expected \"invalidity\" to be a word, found " + shown(member));
    }
    const std::string word = member == nullptr ? "" : member->get<std::string>();
    const auto outcome = word.empty() ? Outcome::ok : interchange::outcome_of_word(word);
    if (!outcome) {
      refuse(row, fmt::format("the invalidity '{}' is not known; expected correct, compile, "
                              "runtime, timeout, correctness or constraints",
                              word));
    }
    trial.outcome = *outcome;
    if (trial.outcome != Outcome::ok) {
      trial.message = word;
      return;
    }
    const Json* correctness = find_member(row.json, "correctness");
    if (correctness == nullptr) return;
    const bool right = correctness->is_boolean() ? correctness->get<bool>()
                                                 : number_value(*correctness).value_or(0) >= 1;
    if (!right) {
      refuse(row, fmt::format("its invalidity is '{}', its correctness {}: they contradict each "
                              "other",
                              word.empty() ? "correct" : word, shown(correctness)));
    }
  }

  /// The first objective that is not the time is that of the file.
  void note_objective(const JsonRow& row) {
    if (!recorded_.other_objective.empty()) return;
    recorded_.other_objective =
        interchange::other_objective(find_member(row.json, "objectives"), row.json);
  }

  /// The time among the measurements becomes the trial's time, the others its metrics; without one
  /// the mean of the single runs is the time.
  void read_measurements(const JsonRow& row, RecordedTrial& trial) {
    std::optional<double> time;
    std::optional<double> unit;
    const Json* all = find_member(row.json, "measurements");
    for (const Json& measurement : all != nullptr && all->is_array() ? *all : Json::array()) {
      const std::string name = text_member(measurement, "name");
      const Json* value = find_member(measurement, "value");
      if (value == nullptr) continue;
      if (interchange::is_time(name) && !time) {
        unit = unit_of(row, name, measurement);
        time = time_of(*value);
      } else if (const auto number = number_value(*value); number && std::isfinite(*number)) {
        trial.metrics.emplace_back(name, *number);
      }
    }
    if (trial.outcome != Outcome::ok) return;
    read_samples(row, unit, trial);
    if (time) {
      time = *time * unit.value_or(kNsPerMs);
    } else if (!trial.samples_ns.empty()) {
      time = std::accumulate(trial.samples_ns.begin(), trial.samples_ns.end(), 0.0) /
             static_cast<double>(trial.samples_ns.size());
    }
    if (!time && !recorded_.other_objective.empty()) return;
    if (!time || !std::isfinite(*time) || *time <= 0) {
      refuse(row, "expected a measurement \"time\" above 0, as its invalidity is 'correct'");
    }
    trial.time_ns = *time;
  }

  [[nodiscard]] static std::optional<double> time_of(const Json& value) {
    if (value.is_array() && !value.empty()) return number_value(value.front()).value_or(-1);
    return number_value(value).value_or(-1);
  }

  /// Nanoseconds of the unit of a measurement.
  [[nodiscard]] double unit_of(const JsonRow& row, const std::string& name,
                               const Json& measurement) {
    const Json* member = find_member(measurement, "unit");
    const std::string unit = member == nullptr     ? ""
                             : member->is_string() ? member->get<std::string>()
                                                   : shown(member);
    if (unit.empty()) return shared_unit();
    if (const auto ns = interchange::nanoseconds_of_unit(unit)) return *ns;
    refuse(row, fmt::format("expected the unit of \"{}\" to be {}, not '{}'", name,
                            interchange::kTimeUnits, unit));
  }

  [[nodiscard]] double shared_unit() {
    if (stated_ns_) return *stated_ns_;
    took_milliseconds_ = true;
    return kNsPerMs;
  }

  /// Single runs have no unit of their own: that of the file, else of the row's measurement.
  void read_samples(const JsonRow& row, std::optional<double> unit, RecordedTrial& trial) {
    const Json* times = find_member(row.json, "times");
    const Json* runs = times == nullptr ? nullptr : find_member(*times, "runtimes");
    if (runs == nullptr || !runs->is_array() || runs->empty()) return;
    const double ns = stated_ns_ ? *stated_ns_ : unit ? *unit : shared_unit();
    for (const Json& run : *runs) {
      if (const auto number = number_value(run)) trial.samples_ns.push_back(*number * ns);
    }
  }

  RecordedTrials& recorded_;
  std::optional<double> stated_ns_;  // of the unit that the file states for all times
  bool took_milliseconds_ = false;
  std::string direction_;  // not empty: the file says that more is better
};

}  // namespace

bool is_t4(std::string_view text) {
  return text.find("\"results\"") != std::string_view::npos &&
         text.find("\"configuration\"") != std::string_view::npos;
}

RecordedTrials read_t4(std::string_view text, const std::string& path) {
  return interchange::read_results<T4Reader>(text, path, "results");
}

}  // namespace kiln
