// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/kernel_launcher_wisdom.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/interchange/failure_words.hpp"
#include "core/interchange/json_parser.hpp"
#include "core/interchange/json_reading.hpp"
#include "core/interchange/objective.hpp"
#include "core/interchange/time_unit.hpp"
#include "core/interchange/tunable_values.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;
using interchange::find_member;
using interchange::kNsPerMs;
using interchange::scalar_value;
using interchange::text_member;

class WisdomReader {
 public:
  explicit WisdomReader(std::string path) : path_(std::move(path)) {}

  void read(std::string_view line) {
    ++number_;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    if (tunables_.empty()) {
      read_header(object_of(line));
      return;
    }
    try {
      read_config(object_of(line));
    } catch (const InputError& error) {
      bad_.emplace_back(error.what());
    }
  }

  std::vector<RecordedTrials> finish() {
    if (groups_.empty() && bad_.empty())
      throw InputError(path_ + ": holds no config; expected lines behind its header");
    if (groups_.empty()) add_group("", "");
    groups_.front().bad = std::move(bad_);
    for (RecordedTrials& group : groups_) {
      group.other_objective = other_objective_;
      drop_contradictions(group);
    }
    return std::move(groups_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError({path_, number_, 0}, message);
  }

  [[nodiscard]] Json object_of(std::string_view line) const {
    Json json = interchange::parse_line(line, path_, number_);
    if (!json.is_object()) fail("expected one JSON object a line");
    return json;
  }

  void read_header(const Json& json) {
    if (text_member(json, "version") != "1.0") fail("expected wisdom of version \"1.0\"");
    kernel_ = text_member(json, "key");
    objective_ = text_member(json, "objective");
    other_objective_ = interchange::other_objective(find_member(json, "objective"), json);
    if (!other_objective_.empty()) {
      fail("expected the objective \"time\", not \"" + other_objective_ + "\"");
    }
    const Json* names = find_member(json, "tunable_parameters");
    if (names == nullptr || !names->is_array() || names->empty()) {
      fail("expected an array of names at \"tunable_parameters\"");
    }
    for (const Json& name : *names) {
      if (!name.is_string()) fail("expected an array of names at \"tunable_parameters\"");
      tunables_.push_back({name.get<std::string>(), {}});
    }
  }

  void read_config(const Json& json) {
    RecordedTrial trial;
    const Json* config = find_member(json, "config");
    if (config == nullptr || !config->is_array() || config->size() != tunables_.size()) {
      fail("expected an array of " + std::to_string(tunables_.size()) + " values at \"config\"");
    }
    for (const Json& value : *config) {
      const std::optional<Value> scalar = scalar_value(value);
      if (!scalar) fail("expected numbers, texts and booleans at \"config\"");
      trial.values.push_back(*scalar);
    }
    read_time(json, trial);
    RecordedTrials& group = group_of(json);
    interchange::learn_values(group.tunables, trial.values);
    group.trials.push_back(std::move(trial));
  }

  void read_time(const Json& json, RecordedTrial& trial) const {
    const Json* time = find_member(json, objective_.c_str());
    const auto number = time == nullptr ? std::nullopt : interchange::number_value(*time);
    if (number && std::isfinite(*number) && *number > 0) {
      trial.time_ns = *number * kNsPerMs;
      return;
    }
    const auto failure = time != nullptr && time->is_string()
                             ? interchange::outcome_of_word(time->get<std::string>())
                             : std::nullopt;
    if (!failure || *failure == Outcome::ok) {
      fail("expected a number of milliseconds above 0 at \"" + objective_ + "\", found " +
           interchange::shown(time));
    }
    trial.outcome = *failure;
    trial.message = time->get<std::string>();
  }

  RecordedTrials& group_of(const Json& json) {
    const Json* sizes = find_member(json, "problem_size");
    if (sizes == nullptr || !sizes->is_array()) fail("expected an array at \"problem_size\"");
    std::string problem;
    for (const Json& size : *sizes) {
      if (!size.is_number_integer()) fail("expected whole numbers at \"problem_size\"");
      problem += (problem.empty() ? "" : " ") + size.dump();
    }
    const Json* environment = find_member(json, "environment");
    const std::string device =
        environment == nullptr ? "" : text_member(*environment, "device_name");
    for (RecordedTrials& group : groups_) {
      if (group.problem == problem && group.device == device) return group;
    }
    return add_group(device, problem);
  }

  RecordedTrials& add_group(const std::string& device, const std::string& problem) {
    RecordedTrials group;
    group.path = path_;
    group.kernel = kernel_;
    group.device = device;
    group.problem = problem;
    group.tunables = tunables_;
    return groups_.emplace_back(std::move(group));
  }

  std::string path_;
  int number_ = 0;
  std::string kernel_;
  std::string objective_;
  std::string other_objective_;
  std::vector<std::string> bad_;
  std::vector<RecordedTunable> tunables_;
  std::vector<RecordedTrials> groups_;
};

}  // namespace

bool is_kernel_launcher_wisdom(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.find("\"tunable_parameters\"") != std::string_view::npos &&
         first.find("\"objective\"") != std::string_view::npos;
}

std::vector<RecordedTrials> read_kernel_launcher_wisdom(std::string_view text,
                                                        const std::string& path) {
  WisdomReader reader(path);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace kiln
