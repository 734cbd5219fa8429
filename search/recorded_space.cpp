// SPDX-License-Identifier: Apache-2.0
#include "search/recorded_space.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/errors.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostValues = 254;  // of a tunable; recordings have a few dozen

// Numbers ascending before texts in the order of their appearance.
bool precedes(const Value& a, const Value& b) {
  const bool a_is_text = std::holds_alternative<std::string>(a);
  const bool b_is_text = std::holds_alternative<std::string>(b);
  if (a_is_text || b_is_text) return !a_is_text && b_is_text;
  return as_double(a) < as_double(b);
}

// The tunables that the configs of one variant have, in an order that agrees with all of them: an
// unknown one comes behind the one that precedes it in its config.
void learn_tunables(const Config& config, std::vector<Tunable>& tunables) {
  std::size_t place = 0;
  for (const auto& [name, value] : config.values) {
    const auto is_it = [&wanted = name](const Tunable& tunable) { return tunable.name == wanted; };
    auto known = std::find_if(tunables.begin(), tunables.end(), is_it);
    if (known == tunables.end()) {
      known = tunables.insert(tunables.begin() + static_cast<std::ptrdiff_t>(place), Tunable());
      known->name = name;
    }
    place = static_cast<std::size_t>(known - tunables.begin()) + 1;
    std::vector<Value>& values = known->values;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
}

using Row = std::vector<ValueIndex>;

Row row_of(const Config& config, const std::vector<Tunable>& tunables) {
  Row row;
  for (const Tunable& tunable : tunables) {
    const Value* value = config.find(tunable.name);
    const auto& values = tunable.values;
    row.push_back(value == nullptr
                      ? kAbsent
                      : static_cast<ValueIndex>(std::find(values.begin(), values.end(), *value) -
                                                values.begin()));
  }
  return row;
}

// Squared distance from the middle of the values, each tunable's list being of length 1.
double distance_from_middle(const Row& row, const std::vector<Tunable>& tunables) {
  double distance = 0;
  for (std::size_t t = 0; t < row.size(); ++t) {
    const auto count = static_cast<double>(tunables[t].values.size());
    const double position = row[t] == kAbsent ? 0.0 : (row[t] + 0.5) / count;
    distance += (position - 0.5) * (position - 0.5);
  }
  return distance;
}

bool is_better(const RecordedResult& a, const RecordedResult& b) {
  if (a.outcome != Outcome::ok || b.outcome != Outcome::ok) return a.outcome == Outcome::ok;
  return a.time_ns < b.time_ns;
}

// The configs of one variant, in the order of their rows, and their results.
struct Part {
  VariantSpace configs;
  std::vector<RecordedResult> results;
};

Part make_part(const std::string& name, const std::string& variant,
               const std::vector<const Trial*>& trials) {
  Variant described;
  described.name = variant;
  std::vector<Tunable>& tunables = described.tunables;
  for (const Trial* trial : trials) learn_tunables(trial->config, tunables);
  for (Tunable& tunable : tunables) {
    if (tunable.values.size() > kMostValues) {
      throw InputError(fmt::format("{}: {} has {} values; a space holds at most 254 of a tunable",
                                   name, tunable.name, tunable.values.size()));
    }
    std::stable_sort(tunable.values.begin(), tunable.values.end(), precedes);
  }

  std::vector<std::pair<Row, RecordedResult>> rows;
  for (const Trial* trial : trials) {
    rows.emplace_back(row_of(trial->config, tunables),
                      RecordedResult{trial->outcome, trial->time_ns});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : is_better(a.second, b.second);
  });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; }),
             rows.end());

  const auto middle = std::min_element(rows.begin(), rows.end(), [&](auto& a, auto& b) {
    return distance_from_middle(a.first, tunables) < distance_from_middle(b.first, tunables);
  });
  for (std::size_t t = 0; t < tunables.size(); ++t) {
    const ValueIndex value = middle->first[t];
    tunables[t].fallback = tunables[t].values[value == kAbsent ? 0 : value];
  }
  Part part{VariantSpace(described), {}};
  for (const auto& [row, result] : rows) {
    part.configs.append(row);
    part.results.push_back(result);
  }
  return part;
}

void check_worth(const std::string& name, const std::vector<RecordedResult>& results) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const RecordedResult& result : results) {
    if (result.outcome != Outcome::ok) continue;
    least = std::min(least, result.time_ns);
    most = std::max(most, result.time_ns);
  }
  if (least < most) return;
  throw InputError(fmt::format(
      "{}: nothing to search for: expected at least two configs that ran, with different times",
      name));
}

}  // namespace

RecordedSpace recorded_space(const std::string& name, const std::vector<Trial>& trials) {
  std::vector<std::pair<std::string, std::vector<const Trial*>>> variants;
  for (const Trial& trial : trials) {
    auto known = std::find_if(variants.begin(), variants.end(), [&](const auto& variant) {
      return variant.first == trial.config.variant;
    });
    if (known == variants.end()) {
      known = variants.insert(variants.end(), {trial.config.variant, {}});
    }
    known->second.push_back(&trial);
  }
  std::vector<VariantSpace> spaces;
  std::vector<RecordedResult> results;
  for (const auto& [variant, of_variant] : variants) {
    Part part = make_part(name, variant, of_variant);
    spaces.push_back(std::move(part.configs));
    results.insert(results.end(), part.results.begin(), part.results.end());
  }
  check_worth(name, results);
  return {name, Space::of(std::move(spaces)), std::move(results)};
}

RecordedSpace recorded_space(const std::string& name, const RecordedTrials& recorded) {
  std::vector<Trial> trials;
  trials.reserve(recorded.trials.size());
  for (const RecordedTrial& row : recorded.trials) {
    Trial trial;
    trial.config.variant = "recorded";
    for (std::size_t t = 0; t < recorded.tunables.size(); ++t) {
      trial.config.values.emplace_back(recorded.tunables[t].name, row.values[t]);
    }
    if (row.outcome == Outcome::ok && row.time_ns <= 0) {
      throw InputError(fmt::format("{}: its objective is {}, and not every trial has a time", name,
                                   recorded.other_objective));
    }
    trial.outcome = row.outcome;
    trial.time_ns = row.time_ns;
    trials.push_back(std::move(trial));
  }
  return recorded_space(name, trials);
}

}  // namespace kiln
