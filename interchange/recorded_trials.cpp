// SPDX-License-Identifier: Apache-2.0
#include "interchange/recorded_trials.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/separated_number.hpp"
#include "interchange/failure_words.hpp"
#include "interchange/json_reading.hpp"
#include "interchange/json_rows.hpp"
#include "interchange/kernel_tuner_cache.hpp"
#include "interchange/recorded_rows.hpp"
#include "interchange/t4.hpp"
#include "interchange/time_unit.hpp"
#include "interchange/tunable_values.hpp"

namespace kiln {
using interchange::find_member;
using interchange::JsonRow;
using interchange::number_value;
using interchange::shown;
using interchange::text_member;
using Json = nlohmann::ordered_json;
namespace {

// KTT's own results as JSON (Metadata; Results with KernelName, Status, TotalDuration,
// Configuration and ComputationResults), by the serializer of KTT 2.2. All times have the unit of
// Metadata.TimeUnit. A file lists no values of its tunables: they are those of its configs. It does
// not say which problem was solved.

/// Reads the results of one file.
class KttReader {
 public:
  KttReader(const Json& head, RecordedTrials& recorded) : recorded_(recorded) {
    const Json* metadata = find_member(head, "Metadata");
    if (metadata == nullptr) return;
    recorded.device = text_member(*metadata, "Device");
    taken_at_ = text_member(*metadata, "Timestamp");
    stated_ns_ = interchange::stated_unit(*metadata, recorded.path);
  }

  /// Throws InputError with the place of the fault.
  [[nodiscard]] RecordedTrial read(const JsonRow& row) {
    if (!row.json.is_object()) refuse(row, "expected an object, found " + shown(&row.json));
    check_kernel(row);
    RecordedTrial trial;
    const std::string fault =
        interchange::take_config(recorded_.tunables, config_of(row), trial.values);
    if (!fault.empty()) refuse(row, fault);
    read_status(row, trial);
    if (trial.outcome == Outcome::ok) trial.time_ns = time_of(row);
    read_metrics(row, trial);
    trial.taken_at = taken_at_;
    return trial;
  }

  void finish() {
    if (!took_milliseconds_) return;
    recorded_.notes.push_back(
        fmt::format("{}: states no \"TimeUnit\": times are taken as milliseconds, KTT's default",
                    recorded_.path));
  }

 private:
  [[noreturn]] static void refuse(const JsonRow& row, const std::string& message) {
    throw InputError(row.where, fmt::format("result {}: {}", row.key, message));
  }

  void check_kernel(const JsonRow& row) {
    const std::string kernel = text_member(row.json, "KernelName");
    if (recorded_.kernel.empty()) recorded_.kernel = kernel;
    if (kernel == recorded_.kernel) return;
    refuse(row, fmt::format("expected the kernel '{}' of the first result, found '{}'",
                            recorded_.kernel, kernel));
  }

  [[nodiscard]] static interchange::NamedValues config_of(const JsonRow& row) {
    const Json* pairs = find_member(row.json, "Configuration");
    if (pairs == nullptr || !pairs->is_array() || pairs->empty()) {
      refuse(row, "expected \"Configuration\" to be a list of \"Name\" and \"Value\"");
    }
    interchange::NamedValues config;
    for (const Json& pair : *pairs) {
      const std::string name = text_member(pair, "Name");
      const Json* member = find_member(pair, "Value");
      const auto value = member == nullptr ? std::nullopt : interchange::scalar_value(*member);
      if (name.empty() || !value) {
        refuse(row, fmt::format("expected \"Configuration\" to give a name and a value, found {}",
                                name.empty() ? "no name" : name + ": " + shown(member)));
      }
      config.emplace_back(name, *value);
    }
    return config;
  }

  static void read_status(const JsonRow& row, RecordedTrial& trial) {
    const std::string status = text_member(row.json, "Status");
    const auto outcome = status.empty() ? std::nullopt : interchange::outcome_of_word(status);
    if (!outcome) {
      refuse(row, fmt::format("expected \"Status\" to be Ok, ComputationFailed, ValidationFailed, "
                              "CompilationFailed or DeviceLimitsExceeded, found {}",
                              shown(find_member(row.json, "Status"))));
    }
    trial.outcome = *outcome;
    if (trial.outcome != Outcome::ok) trial.message = status;
  }

  [[nodiscard]] double time_of(const JsonRow& row) {
    const Json* member = find_member(row.json, "TotalDuration");
    const double number = member == nullptr ? -1 : number_value(*member).value_or(-1);
    if (member != nullptr && member->is_string() &&
        !separated_number(member->get_ref<const std::string&>()).empty()) {
      refuse(row, fmt::format("\"TotalDuration\" {} has separators; expected digits alone",
                              shown(member)));
    }
    if (!std::isfinite(number) || number <= 0) {
      refuse(row,
             "expected \"TotalDuration\" above 0, as its status is Ok, found " + shown(member));
    }
    took_milliseconds_ = took_milliseconds_ || !stated_ns_;
    return number * stated_ns_.value_or(interchange::kNsPerMs);
  }

  /// What the compiler and the profiler said of a result that is one launch.
  static void read_metrics(const JsonRow& row, RecordedTrial& trial) {
    const Json* launches = find_member(row.json, "ComputationResults");
    if (launches == nullptr || !launches->is_array() || launches->size() != 1) return;
    const Json& launch = launches->front();
    const Json* data = find_member(launch, "CompilationData");
    if (data != nullptr && data->is_object()) {
      for (const auto& [name, value] : data->items()) {
        const auto number = number_value(value);
        if (number && std::isfinite(*number)) trial.metrics.emplace_back(name, *number);
      }
    }
    const Json* profile = find_member(launch, "ProfilingData");
    const Json* counters = profile == nullptr ? nullptr : find_member(*profile, "Counters");
    for (const Json& counter :
         counters != nullptr && counters->is_array() ? *counters : Json::array()) {
      const Json* value = find_member(counter, "Value");
      const auto number = value == nullptr ? std::nullopt : number_value(*value);
      if (number && std::isfinite(*number))
        trial.metrics.emplace_back(text_member(counter, "Name"), *number);
    }
  }

  RecordedTrials& recorded_;
  std::string taken_at_;
  std::optional<double> stated_ns_;  // nanoseconds of Metadata.TimeUnit
  bool took_milliseconds_ = false;
};

/// Does `text` look like one?
bool is_ktt_results(std::string_view text) {
  return text.find("\"Results\"") != std::string_view::npos &&
         text.find("\"ComputationResults\"") != std::string_view::npos;
}

/// Reads all results; `TotalDuration` is the time, a status other than "Ok" a failure. A result of
/// a second kernel is in `bad`. Throws InputError as read_recorded_trials does.
RecordedTrials read_ktt_results(std::string_view text, const std::string& path) {
  return interchange::read_results<KttReader>(text, path, "Results");
}

[[noreturn]] void refuse_format(std::string_view text, const std::string& path) {
  if (text.find("<TuningData") != std::string_view::npos) {
    throw InputError({path, 0, 0},
                     "is a file of results of KTT as XML, which is not read; expected its JSON");
  }
  throw InputError({path, 0, 0},
                   "expected a Kernel Tuner cache (JSON with \"tune_params_keys\" and \"cache\"), "
                   "a T4 file (\"results\" and \"configuration\") or results of KTT; or, for `kiln "
                   "replay`, a database of Kiln");
}

}  // namespace

std::string_view foreign_format(std::string_view text) {
  if (is_kernel_tuner_cache(text)) return "a cache of Kernel Tuner";
  if (is_t4(text)) return "a T4 file";
  if (is_ktt_results(text)) return "a file of results of KTT";
  return "";
}

RecordedTrials read_recorded_trials(std::string_view text, const std::string& path) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError({path, 0, 0}, "the file is empty; expected a Kernel Tuner cache or a T4 file");
  }
  if (is_kernel_tuner_cache(text)) return read_kernel_tuner_cache(text, path);
  if (is_t4(text)) return read_t4(text, path);
  if (is_ktt_results(text)) return read_ktt_results(text, path);
  refuse_format(text, path);
}

RecordedTrials read_all_recorded_trials(std::string_view text, const std::string& path) {
  RecordedTrials recorded = read_recorded_trials(text, path);
  if (!recorded.bad.empty()) throw InputError(recorded.bad.front());
  return recorded;
}

void drop_replaced(std::span<RecordedTrials* const> files) {
  const auto key_of = [](const RecordedTrials& file, const RecordedTrial& trial) {
    std::vector<std::pair<std::string, Value>> config;
    for (std::size_t i = 0; i < trial.values.size(); ++i)
      config.emplace_back(file.tunables[i].name, trial.values[i]);
    std::ranges::sort(config);
    return std::tuple(file.kernel, file.device, file.problem, file.arguments, std::move(config));
  };
  std::map<decltype(key_of({}, {})), std::string> latest;
  for (const RecordedTrials* file : files) {
    for (const RecordedTrial& trial : file->trials) {
      std::string& time = latest[key_of(*file, trial)];
      time = std::max(time, trial.taken_at);
    }
  }
  for (RecordedTrials* file : files) {
    std::erase_if(file->trials, [&](const RecordedTrial& trial) {
      return !trial.taken_at.empty() && trial.taken_at < latest[key_of(*file, trial)];
    });
  }
}

void drop_contradictions(RecordedTrials& recorded) {
  RecordedTrials* const only[] = {&recorded};
  drop_replaced(only);
  std::map<std::vector<Value>, std::vector<const RecordedTrial*>> by_config;
  for (const RecordedTrial& trial : recorded.trials) by_config[trial.values].push_back(&trial);
  std::set<std::vector<Value>> contradicted;
  for (const auto& [values, trials] : by_config) {
    const auto failed = std::find_if(trials.begin(), trials.end(), [](const auto* trial) {
      return trial->outcome != Outcome::ok;
    });
    const auto ran = std::find_if(trials.begin(), trials.end(),
                                  [](const auto* trial) { return trial->outcome == Outcome::ok; });
    if (failed == trials.end() || ran == trials.end()) continue;
    contradicted.insert(values);
    std::string config;
    for (std::size_t i = 0; i < values.size(); ++i) {
      config +=
          fmt::format("{}{}={}", i == 0 ? "" : ",", recorded.tunables[i].name, to_text(values[i]));
    }
    recorded.bad.push_back(
        fmt::format("{}: {} ran in one row and failed in another ('{}'): it is left out",
                    recorded.path, config, (*failed)->message));
  }
  std::erase_if(recorded.trials,
                [&](const RecordedTrial& trial) { return contradicted.contains(trial.values); });
}

}  // namespace kiln
