// SPDX-License-Identifier: Apache-2.0
#include "interchange/foreign_groups.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/launch_plan.hpp"
#include "core/problem_text.hpp"
#include "core/setting.hpp"
#include "core/suggest.hpp"
#include "db/close_configs.hpp"
#include "db/records.hpp"
#include "interchange/recorded_trials.hpp"
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

/// Returns the problem text with "{0}", "{1}", ... replaced by the recorded sizes, in the file's
/// order, and "{NAME}" by the argument of that name. Throws InputError for a number or name that
/// the file does not have.
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

/// Returns the fastest recorded config that is legal for `problem` on `device`, with the close ones
/// as evidence. The recorded tunables must be those of one variant. Driver, compiler and template
/// are unknown, so the best is stale everywhere. Its time of publication is 1970, so every best of
/// our own is newer. Throws InputError if it was measured on another device, the tunables belong to
/// no variant, or no config is legal.
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

/// A group whose sizes of the problem are no tunables any more.
struct SizedGroup {
  RecordedTrials recorded;
  std::string own_fields;  // sizes that --problem does not name: ",n=4096"
};

bool is_marked(const std::string& problem, const std::string& name) {
  return problem.find("{" + name + "}") != std::string::npos;
}

/// Is it a size of the problem that --problem does not name?
bool is_own_field(const KernelSpec& spec, const std::string& name) {
  return spec.find_field(name) != nullptr &&
         std::none_of(spec.variants.begin(), spec.variants.end(), [&](const Variant& variant) {
           return std::any_of(variant.tunables.begin(), variant.tunables.end(),
                              [&](const Tunable& tunable) { return tunable.name == name; });
         });
}

/// `recorded` without its trials and without the tunables at `places`.
RecordedTrials without_trials(const RecordedTrials& recorded, const std::set<std::size_t>& places) {
  RecordedTrials part;
  part.path = recorded.path;
  part.kernel = recorded.kernel;
  part.device = recorded.device;
  part.problem = recorded.problem;
  part.arguments = recorded.arguments;
  part.other_objective = recorded.other_objective;
  for (std::size_t i = 0; i < recorded.tunables.size(); ++i) {
    if (!places.contains(i)) part.tunables.push_back(recorded.tunables[i]);
  }
  return part;
}

/// One group for each combination of values of the tunables at `places`, which become arguments.
std::vector<RecordedTrials> split(RecordedTrials recorded, const std::set<std::size_t>& places) {
  std::vector<RecordedTrials> parts;
  std::map<std::vector<Value>, std::size_t> known;
  for (RecordedTrial& trial : recorded.trials) {
    std::vector<Value> sizes;
    std::vector<Value> rest;
    for (std::size_t i = 0; i < trial.values.size(); ++i) {
      (places.contains(i) ? sizes : rest).push_back(std::move(trial.values[i]));
    }
    const auto [entry, is_new] = known.emplace(sizes, parts.size());
    if (is_new) {
      parts.push_back(without_trials(recorded, places));
      auto size = sizes.begin();
      for (const std::size_t place : places) {
        parts.back().arguments.emplace_back(recorded.tunables[place].name, to_text(*size++));
      }
    }
    trial.values = std::move(rest);
    parts[entry->second].trials.push_back(std::move(trial));
  }
  if (parts.empty()) parts.push_back(without_trials(recorded, places));
  parts.front().bad = std::move(recorded.bad);
  parts.front().notes = std::move(recorded.notes);
  return parts;
}

std::vector<SizedGroup> split_by_problem(const KernelSpec& spec, const std::string& problem,
                                         std::vector<RecordedTrials> files) {
  std::vector<SizedGroup> all;
  for (RecordedTrials& group : files) {
    std::set<std::size_t> places;
    for (std::size_t i = 0; i < group.tunables.size(); ++i) {
      const std::string& name = group.tunables[i].name;
      if (is_marked(problem, name) || is_own_field(spec, name)) places.insert(i);
    }
    if (places.empty()) {
      all.push_back({std::move(group), ""});
      continue;
    }
    for (RecordedTrials& part : split(std::move(group), places)) {
      std::string fields;
      for (auto size = part.arguments.end() - static_cast<std::ptrdiff_t>(places.size());
           !part.trials.empty() && size != part.arguments.end(); ++size) {
        if (!is_marked(problem, size->first))
          fields += "," + size->first + "=" + quoted_if_needed(size->second);
      }
      all.push_back({std::move(part), std::move(fields)});
    }
  }
  return all;
}

/// The marks whose values differ between two groups: "{m}, {precision}".
std::string differing_marks(const RecordedTrials& one, const RecordedTrials& other) {
  std::vector<std::string> marks;
  if (one.problem != other.problem) marks.emplace_back("{0}");
  for (const auto& argument : one.arguments) {
    if (std::find(other.arguments.begin(), other.arguments.end(), argument) ==
        other.arguments.end()) {
      marks.push_back("{" + argument.first + "}");
    }
  }
  return comma_list(marks);
}

/// Collects the bests of groups that fit.
class BestCollector {
 public:
  BestCollector(const KernelSpec& spec, const std::string& problem, const DeviceInfo& device,
                ForeignBests& found)
      : spec_(spec), problem_(problem), device_(device), found_(found) {}

  void add(const SizedGroup& sized) {
    const RecordedTrials& group = sized.recorded;
    found_.bad.insert(found_.bad.end(), group.bad.begin(), group.bad.end());
    found_.notes.insert(found_.notes.end(), group.notes.begin(), group.notes.end());
    if (group.trials.empty()) return;
    try {
      add_best(group, sized.own_fields);
    } catch (const InputError& error) {
      found_.bad.emplace_back(error.what());
    }
  }

 private:
  void add_best(const RecordedTrials& group, const std::string& own_fields) {
    const Problem problem =
        Problem::parse(spec_, with_recorded_sizes(problem_, group) + own_fields);
    BestRecord best = best_of_recorded({spec_, problem, device_}, group);
    const auto [known, is_new] = known_.emplace(problem.text(), Known{&group, found_.bests.size()});
    if (is_new) {
      found_.bests.push_back(std::move(best));
      return;
    }
    const RecordedTrials& other = *known->second.group;
    if (other.kernel != group.kernel) {
      throw InputError(fmt::format(
          "{}: is of {}, {} of {}, and both become the problem {}: import a file of one of them",
          group.path, group.kernel, other.path, other.kernel, problem.text()));
    }
    if (const std::string marks = differing_marks(group, other); !marks.empty()) {
      throw InputError(fmt::format(
          "{}: becomes the problem {}, as {} does; name in --problem what tells them apart: {}",
          group.path, problem.text(), other.path, marks));
    }
    BestRecord& first = found_.bests[known->second.index];
    if (best.time_ns < first.time_ns) first = std::move(best);
  }

  struct Known {
    const RecordedTrials* group;
    std::size_t index;  // in the bests
  };

  const KernelSpec& spec_;
  const std::string& problem_;
  const DeviceInfo& device_;
  ForeignBests& found_;
  std::map<std::string, Known> known_;  // by problem
};

}  // namespace

ForeignBests bests_of_files(const KernelSpec& spec, const std::string& problem,
                            const DeviceInfo& device, std::vector<RecordedTrials> files) {
  ForeignBests found;
  std::vector<SizedGroup> groups = split_by_problem(spec, problem, std::move(files));
  std::vector<RecordedTrials*> parts;
  for (SizedGroup& group : groups) parts.push_back(&group.recorded);
  drop_replaced(parts);
  BestCollector collector(spec, problem, device, found);
  for (const SizedGroup& group : groups) collector.add(group);
  return found;
}

}  // namespace kiln
