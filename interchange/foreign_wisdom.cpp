// SPDX-License-Identifier: Apache-2.0
#include "interchange/foreign_wisdom.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/launch_plan.hpp"
#include "core/setting.hpp"
#include "core/suggest.hpp"
#include "db/close_configs.hpp"
#include "interchange/t4_export.hpp"

namespace kiln {
namespace {

// Tuners write "NVIDIA RTX A4000", "NVIDIA_RTX_A4000", "RTX-A4000".
std::string letters_of(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

/// A file that names no device may be of any.
void check_device(const DeviceInfo& device, const RecordedTrials& recorded) {
  const std::string ours = letters_of(device.name);
  const std::string theirs = letters_of(recorded.device);
  if (theirs.empty() || ours.find(theirs) != std::string::npos ||
      theirs.find(ours) != std::string::npos)
    return;
  throw InputError(fmt::format("{}: was measured on '{}'; expected '{}', the device given",
                               recorded.path, recorded.device, device.name));
}

std::vector<std::string> tunables_of(const Variant& variant) {
  std::vector<std::string> names;
  for (const Tunable& tunable : variant.tunables) names.push_back(tunable.name);
  return names;
}

/// The variant with the tunables of these names; nullptr where there is none.
const Variant* find_variant_of(const KernelSpec& spec, const std::set<std::string>& names) {
  const auto found =
      std::find_if(spec.variants.begin(), spec.variants.end(), [&](const Variant& variant) {
        const std::vector<std::string> own = tunables_of(variant);
        return std::set<std::string>(own.begin(), own.end()) == names;
      });
  return found == spec.variants.end() ? nullptr : &*found;
}

std::set<std::string> tunables_of(const RecordedTrials& recorded) {
  std::set<std::string> names;
  for (const RecordedTunable& tunable : recorded.tunables) names.insert(tunable.name);
  return names;
}

const Variant& variant_of(const KernelSpec& spec, const RecordedTrials& recorded) {
  const std::set<std::string> names = tunables_of(recorded);
  if (const Variant* variant = find_variant_of(spec, names)) return *variant;
  std::string expected;
  for (const Variant& variant : spec.variants) {
    expected += fmt::format("\n  {}: {}", variant.name, comma_list(tunables_of(variant)));
  }
  throw InputError(
      fmt::format("{}: its tunables ({}) are those of no variant of {}; expected one of:{}",
                  recorded.path, comma_list({names.begin(), names.end()}), spec.name, expected));
}

std::string config_text(const Variant& variant, const RecordedTrials& recorded,
                        const RecordedTrial& trial) {
  Config config{variant.name, {}};
  for (std::size_t i = 0; i < trial.values.size(); ++i) {
    if (trial.values[i] == Value(std::string(kNoSuchTunable))) continue;
    config.values.emplace_back(recorded.tunables[i].name, trial.values[i]);
  }
  return config.text();
}

/// What was recorded that is legal here, as trials; and why the last of the others was not.
std::vector<TrialRecord> legal_trials(const Setting& setting, const RecordedTrials& recorded,
                                      std::string& reason) {
  const Variant& variant = variant_of(setting.spec(), recorded);
  std::vector<TrialRecord> trials;
  for (const RecordedTrial& trial : recorded.trials) {
    if (trial.outcome != Outcome::ok || trial.time_ns <= 0) continue;
    try {
      TrialRecord record;
      record.trial.config = setting.parse(config_text(variant, recorded, trial));
      const Result<LaunchPlan> plan = setting.plan(record.trial.config);
      if (!plan) {
        reason = plan.failure().message;
        continue;
      }
      record.sequence = static_cast<std::int64_t>(trials.size()) + 1;
      record.trial.time_ns = trial.time_ns;
      trials.push_back(std::move(record));
    } catch (const InputError& error) {
      reason = error.what();
    }
  }
  return trials;
}

/// Replaces "{name}" wherever it stands.
void replace_mark(std::string& text, const std::string& name, const std::string& value) {
  const std::string mark = "{" + name + "}";
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
}

}  // namespace

std::string with_recorded_sizes(const std::string& problem, const RecordedTrials& recorded) {
  std::istringstream words(recorded.problem);
  std::vector<std::string> sizes;
  std::string text = problem;
  for (std::string size; words >> size; sizes.push_back(size)) {
    replace_mark(text, std::to_string(sizes.size()), size);
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : recorded.arguments) {
    replace_mark(text, name, value);
    names.push_back(name);
  }
  const std::size_t rest = text.find('{');
  if (rest == std::string::npos) return text;
  const bool is_number = rest + 1 < text.size() && text[rest + 1] >= '0' && text[rest + 1] <= '9';
  if (is_number || names.empty()) {
    throw InputError(fmt::format("{}: has {} sizes ('{}'), the problem '{}' asks for more",
                                 recorded.path, sizes.size(), recorded.problem, problem));
  }
  throw InputError(fmt::format("{}: names {}, the problem '{}' asks for another name",
                               recorded.path, comma_list(names), problem));
}

BestRecord best_of_recorded(const Setting& setting, const RecordedTrials& recorded) {
  const Problem& problem = setting.problem();
  const DeviceInfo& device = setting.device();
  if (!recorded.other_objective.empty()) {
    throw InputError(
        fmt::format("{}: its objective is {}; expected time: only bests for time can be imported",
                    recorded.path, recorded.other_objective));
  }
  check_device(device, recorded);
  std::string reason = "no config of it was ok";
  const std::vector<TrialRecord> trials = legal_trials(setting, recorded, reason);
  if (trials.empty()) {
    throw InputError(fmt::format("{}: holds no config that is legal for {} on {}: {}",
                                 recorded.path, problem.text(), identity_of(device), reason));
  }
  const auto fastest = std::min_element(
      trials.begin(), trials.end(),
      [](const auto& a, const auto& b) { return a.trial.time_ns < b.trial.time_ns; });
  BestRecord best;
  best.key = {.kernel = setting.spec().name,
              .spec_hash = content_hash(setting.spec()),
              .problem = problem.text(),
              .device = identity_of(device),
              .driver = "unknown",
              .compiler = "unknown",
              .tool_version = "another tuner",
              .strategy = "another tuner",
              .seed = 0,
              .options = ""};
  best.device_info = device;
  best.problem_json = to_json(problem).dump();
  best.config = fastest->trial.config;
  best.time_ns = fastest->trial.time_ns;
  best.verdict = Verdict::unmeasurable;
  if (const Result<Config> usual = setting.launchable_default()) {
    const auto found = std::find_if(trials.begin(), trials.end(), [&](const TrialRecord& record) {
      return record.trial.config == *usual;
    });
    if (found != trials.end()) best.default_time_ns = found->trial.time_ns;
  }
  best.trials = static_cast<std::int64_t>(recorded.trials.size());
  best.failures = best.trials - static_cast<std::int64_t>(trials.size());
  best.published_at = kUndated;
  Evidence evidence;
  add_close_configs(evidence, trials);
  best.evidence = to_text(evidence);
  return best;
}

}  // namespace kiln
