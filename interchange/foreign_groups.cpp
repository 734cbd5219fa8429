// SPDX-License-Identifier: Apache-2.0
#include "interchange/foreign_groups.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/problem_text.hpp"
#include "core/suggest.hpp"
#include "interchange/foreign_wisdom.hpp"
#include "interchange/recorded_trials.hpp"

namespace kiln {
namespace {

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
      throw InputError(
          fmt::format("{}: is of {}, {} of {}, and both become the problem {}: import "
                      "a file of one of them",
                      group.path, group.kernel, other.path, other.kernel, problem.text()));
    }
    if (const std::string marks = differing_marks(group, other); !marks.empty()) {
      throw InputError(
          fmt::format("{}: becomes the problem {}, as {} does; name in --problem what "
                      "tells them apart: {}",
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
