// SPDX-License-Identifier: Apache-2.0
#include "interchange/tunable_values.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace kiln::interchange {
namespace {

bool comes_before(const Value& a, const Value& b) {
  const bool a_is_text = std::holds_alternative<std::string>(a);
  const bool b_is_text = std::holds_alternative<std::string>(b);
  if (a_is_text || b_is_text) return !a_is_text && b_is_text;
  return as_double(a) < as_double(b);
}

}  // namespace

void learn_values(std::vector<RecordedTunable>& tunables, std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<Value>& known = tunables[i].values;
    const auto same = std::find_if(known.begin(), known.end(), [&](const Value& each) {
      return is_same_value(each, values[i]);
    });
    if (same == known.end()) {
      known.push_back(values[i]);
    } else {
      values[i] = *same;
    }
  }
}

std::string take_config(std::vector<RecordedTunable>& tunables, const NamedValues& config,
                        std::vector<Value>& values) {
  std::map<std::string_view, const Value*> by_name;
  for (const auto& [name, value] : config) {
    if (by_name.emplace(name, &value).second) continue;
    return fmt::format("expected one value of {}, found two", name);
  }
  if (tunables.empty()) {
    for (const auto& [name, value] : config) tunables.push_back({name, {}});
  }
  for (const RecordedTunable& tunable : tunables) {
    const auto found = by_name.find(tunable.name);
    if (found == by_name.end()) {
      return fmt::format("expected a value of {}, found nothing", tunable.name);
    }
    values.push_back(*found->second);
  }
  if (config.size() != tunables.size()) {
    return fmt::format("expected the {} tunables of the first config, found {}", tunables.size(),
                       config.size());
  }
  learn_values(tunables, values);
  return "";
}

void sort_values(std::vector<RecordedTunable>& tunables) {
  for (RecordedTunable& tunable : tunables) {
    std::stable_sort(tunable.values.begin(), tunable.values.end(), comes_before);
  }
}

}  // namespace kiln::interchange
