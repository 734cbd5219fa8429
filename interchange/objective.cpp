// SPDX-License-Identifier: Apache-2.0
#include "interchange/objective.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "interchange/json_reading.hpp"
#include "interchange/words.hpp"

namespace kiln::interchange {
namespace {

using Json = nlohmann::ordered_json;

// Bare words.
constexpr std::array<std::string_view, 24> kTimes = {"time",
                                                     "times",
                                                     "runtime",
                                                     "runtimes",
                                                     "duration",
                                                     "totaltime",
                                                     "totalduration",
                                                     "kerneltime",
                                                     "kernelduration",
                                                     "computationduration",
                                                     "executiontime",
                                                     "exectime",
                                                     "elapsed",
                                                     "elapsedtime",
                                                     "kernelruntime",
                                                     "meantime",
                                                     "averagetime",
                                                     "mediantime",
                                                     "mintime",
                                                     "gputime",
                                                     "latency",
                                                     "computationtime",
                                                     "kernelexecution",
                                                     "kernelexecutiontime"};

constexpr std::array<const char*, 8> kMaximised = {"objective_higher_is_better",
                                                   "higher_is_better",
                                                   "objectives_higher_is_better",
                                                   "maximize",
                                                   "maximise",
                                                   "objective_direction",
                                                   "direction",
                                                   "goal"};

/// Does the value of one of these keys say that more is better?
bool says_more(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() > 0;
  if (!value.is_string()) return false;
  const std::string word = bare_word(value.get<std::string>());
  return word.starts_with("max") || word == "true" || word == "higher" || word == "up";
}

bool is_maximised(const Json& holder) {
  return std::any_of(kMaximised.begin(), kMaximised.end(), [&](const char* key) {
    const Json* member = find_member(holder, key);
    if (member == nullptr) return false;
    if (!member->is_array()) return says_more(*member);
    return std::any_of(member->begin(), member->end(), says_more);
  });
}

std::string name_of(const Json& objective) {
  if (objective.is_string()) return objective.get<std::string>();
  if (objective.is_object()) return text_member(objective, "name");
  return shown(&objective);
}

}  // namespace

bool is_time(std::string_view name) {
  return std::find(kTimes.begin(), kTimes.end(), bare_word(name)) != kTimes.end();
}

std::string other_objective(const Json* objective, const Json& holder) {
  std::vector<std::string> names;
  bool maximised = is_maximised(holder);
  const auto add = [&](const Json& each) {
    names.push_back(name_of(each));
    maximised = maximised || is_maximised(each);
  };
  if (objective != nullptr && objective->is_array()) {
    for (const Json& each : *objective) add(each);
  } else if (objective != nullptr) {
    add(*objective);
  }
  if (std::all_of(names.begin(), names.end(), is_time) && !maximised) return "";
  if (names.empty()) names.emplace_back("time");
  return fmt::format("{}{}", fmt::join(names, " and "), maximised ? " (maximised)" : "");
}

}  // namespace kiln::interchange
