// SPDX-License-Identifier: Apache-2.0
#include "interchange/recorded_trials.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "interchange/kernel_tuner_cache.hpp"
#include "interchange/ktt_results.hpp"
#include "interchange/t4.hpp"

namespace kiln {
namespace {

[[noreturn]] void refuse_format(std::string_view text, const std::string& path) {
  if (text.find("<TuningData") != std::string_view::npos) {
    throw InputError({path, 0, 0},
                     "is a file of results of KTT as XML, which is not read; expected its JSON");
  }
  throw InputError(
      {path, 0, 0},
      "expected a Kernel Tuner cache (JSON with \"tune_params_keys\" and \"cache\"), a T4 file "
      "(\"results\" and \"configuration\") or results of KTT; or, for "
      "`kiln replay`, a database of Kiln");
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
        fmt::format("{}: {} ran in one row and failed in another ('{}'): it is "
                    "left out",
                    recorded.path, config, (*failed)->message));
  }
  std::erase_if(recorded.trials,
                [&](const RecordedTrial& trial) { return contradicted.contains(trial.values); });
}

}  // namespace kiln
