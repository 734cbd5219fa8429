// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/nvbench_results.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/dtype.hpp"
#include "core/errors.hpp"
#include "core/interchange/failure_words.hpp"
#include "core/interchange/json_parser.hpp"
#include "core/interchange/json_reading.hpp"
#include "core/interchange/recorded_rows.hpp"
#include "core/interchange/tunable_values.hpp"
#include "core/interchange/words.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;
using interchange::find_member;
using interchange::JsonRow;
using interchange::number_value;
using interchange::shown;
using interchange::text_member;

constexpr double kNsPerSecond = 1e9;
constexpr std::string_view kColdMedian = "nv/cold/time/gpu/median";
constexpr std::string_view kColdMean = "nv/cold/time/gpu/mean";

/// The members of a list; nothing where there is no list.
const Json& list_at(const Json& object, const char* key) {
  static const Json kNothing = Json::array();
  const Json* member = find_member(object, key);
  return member != nullptr && member->is_array() ? *member : kNothing;
}

/// The value of an axis or summary, which nvbench writes in quotes.
std::optional<Value> named_value(const Json& entry) {
  const Json* member = find_member(entry, "value");
  if (member == nullptr) return std::nullopt;
  if (!member->is_string()) return interchange::scalar_value(*member);
  const std::string text = member->get<std::string>();
  return text_member(entry, "type") == "string" ? Value(text) : parse_value(text);
}

/// "F32" as Kiln names it; any other name as it is.
Value element_type(const Value& value) {
  const std::string small = interchange::small_letters(to_text(value));
  return parse_dtype(small) ? Value(small) : value;
}

/// Why a state has no time. A reason is free text of the benchmark or of an exception.
Outcome outcome_of_reason(const std::string& reason) {
  const auto known = interchange::outcome_of_word(reason);
  if (known && *known != Outcome::ok) return *known;
  const std::string bare = interchange::bare_word(reason);
  const auto has = [&](std::string_view word) { return bare.find(word) != std::string::npos; };
  if (has("outofmemory") || has("memoryallocation") || has("badalloc")) {
    return Outcome::out_of_memory;
  }
  return has("error") || has("exception") ? Outcome::launch_error : Outcome::constraint;
}

/// Reads the states of one benchmark.
class BenchmarkReader {
 public:
  BenchmarkReader(const JsonRow& row, std::string place, const std::string& path,
                  const std::map<std::int64_t, std::string>& devices)
      : row_(row), place_(std::move(place)), path_(path), devices_(devices) {
    for (const Json& axis : list_at(row.json, "axes")) {
      if (text_member(axis, "type") == "type") type_axes_.insert(text_member(axis, "name"));
    }
  }

  std::vector<RecordedTrials> read() {
    const Json& states = list_at(row_.json, "states");
    for (std::size_t i = 0; i < states.size(); ++i) {
      RecordedTrials& group = group_of(states[i]);
      try {
        group.trials.push_back(read_state(states[i], group));
      } catch (const InputError& error) {
        group.bad.push_back(
            fmt::format("{}: {}.states[{}]: {}", to_text(row_.where), place_, i, error.what()));
      }
    }
    for (RecordedTrials& group : groups_) {
      interchange::sort_values(group.tunables);
      drop_contradictions(group);
    }
    return std::move(groups_);
  }

 private:
  RecordedTrials& group_of(const Json& state) {
    const Json* id = find_member(state, "device");
    const auto known = id != nullptr && id->is_number_integer()
                           ? devices_.find(id->get<std::int64_t>())
                           : devices_.end();
    const std::string device = known == devices_.end() ? "" : known->second;
    for (RecordedTrials& group : groups_) {
      if (group.device == device) return group;
    }
    RecordedTrials& group = groups_.emplace_back();
    group.path = fmt::format("{}: {}", path_, place_);
    group.kernel = text_member(row_.json, "name");
    group.device = device;
    group.is_part = true;
    return group;
  }

  [[nodiscard]] RecordedTrial read_state(const Json& state, RecordedTrials& group) const {
    if (!state.is_object()) throw InputError("expected an object, found " + shown(&state));
    RecordedTrial trial;
    const std::string fault =
        interchange::take_config(group.tunables, config_of(state), trial.values);
    if (!fault.empty()) throw InputError(fault);
    const Json* skipped = find_member(state, "is_skipped");
    if (skipped != nullptr && *skipped == Json(true)) {
      trial.message = text_member(state, "skip_reason");
      trial.outcome = outcome_of_reason(trial.message);
      return trial;
    }
    read_summaries(state, trial);
    return trial;
  }

  [[nodiscard]] interchange::NamedValues config_of(const Json& state) const {
    interchange::NamedValues config;
    for (const Json& axis : list_at(state, "axis_values")) {
      const std::string name = text_member(axis, "name");
      const auto value = named_value(axis);
      if (name.empty() || !value) {
        throw InputError(
            "expected \"axis_values\" to give a name and a value, found " +
            (name.empty() ? "no name" : name + ": " + shown(find_member(axis, "value"))));
      }
      config.emplace_back(name, type_axes_.contains(name) ? element_type(*value) : *value);
    }
    return config;
  }

  static void read_summaries(const Json& state, RecordedTrial& trial) {
    std::optional<double> median;
    std::optional<double> mean;
    for (const Json& summary : list_at(state, "summaries")) {
      const std::string tag = text_member(summary, "tag");
      const std::optional<double> number = number_of(summary);
      if (tag == kColdMedian) {
        median = seconds_of(summary, tag, number);
      } else if (tag == kColdMean) {
        mean = seconds_of(summary, tag, number);
      } else if (number && std::isfinite(*number)) {
        trial.metrics.emplace_back(tag, *number);
      }
    }
    if (!median) median = mean;
    if (!median) {
      throw InputError(fmt::format("expected a summary {} or {}, as the state was not skipped",
                                   kColdMean, kColdMedian));
    }
    trial.time_ns = *median * kNsPerSecond;
  }

  /// The datum "value" of a summary.
  [[nodiscard]] static std::optional<double> number_of(const Json& summary) {
    for (const Json& datum : list_at(summary, "data")) {
      if (text_member(datum, "name") != "value") continue;
      const Json* value = find_member(datum, "value");
      if (value != nullptr) return number_value(*value);
    }
    return std::nullopt;
  }

  [[nodiscard]] static double seconds_of(const Json& summary, const std::string& tag,
                                         std::optional<double> number) {
    const Json* hint = find_member(summary, "hint");
    if (hint == nullptr || *hint != Json("duration")) {
      throw InputError(
          fmt::format("expected the hint of {} to be \"duration\", which is seconds, "
                      "found {}",
                      tag, shown(hint)));
    }
    if (!number || !std::isfinite(*number) || *number <= 0) {
      throw InputError(fmt::format("expected {} to be a number of seconds above 0", tag));
    }
    return *number;
  }

  const JsonRow& row_;
  std::string place_;  // "benchmarks[0]"
  const std::string& path_;
  const std::map<std::int64_t, std::string>& devices_;
  std::set<std::string> type_axes_;
  std::vector<RecordedTrials> groups_;  // one per device
};

std::map<std::int64_t, std::string> devices_of(const Json& head) {
  std::map<std::int64_t, std::string> devices;
  for (const Json& device : list_at(head, "devices")) {
    const Json* id = find_member(device, "id");
    if (id == nullptr || !id->is_number_integer()) continue;
    devices[id->get<std::int64_t>()] = text_member(device, "name");
  }
  return devices;
}

/// Files before version 1 had no tags.
void check_version(const Json& head, const std::string& path) {
  const Json* version = find_member(head, "meta");
  for (const char* key : {"version", "json"}) {
    if (version != nullptr) version = find_member(*version, key);
  }
  const Json* major = version == nullptr ? nullptr : find_member(*version, "major");
  if (major != nullptr && *major == Json(1)) return;
  throw InputError({path, 0, 0},
                   "expected version 1 of nvbench's JSON at meta.version.json, found " +
                       (major == nullptr ? "none" : shown(major)));
}

}  // namespace

bool is_nvbench_results(std::string_view text) {
  return text.find("\"benchmarks\"") != std::string_view::npos &&
         text.find("\"axes\"") != std::string_view::npos;
}

std::vector<RecordedTrials> read_nvbench_results(std::string_view text, const std::string& path) {
  const interchange::JsonRows file = interchange::parse_rows(text, path, "benchmarks", "benchmark");
  check_version(file.head, path);
  const std::map<std::int64_t, std::string> devices = devices_of(file.head);
  std::vector<RecordedTrials> groups;
  for (const JsonRow& row : file.rows) {
    const std::string place = fmt::format("benchmarks[{}]", &row - file.rows.data());
    for (RecordedTrials& group : BenchmarkReader(row, place, path, devices).read()) {
      groups.push_back(std::move(group));
    }
  }
  interchange::add_faults(groups, file, path, "benchmarks", "benchmark",
                          "expected \"benchmarks\" with states, found a list without any");
  return groups;
}

}  // namespace kiln
