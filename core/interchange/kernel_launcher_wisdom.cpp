// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/kernel_launcher_wisdom.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/interchange/json_reading.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;
using interchange::find_member;
using interchange::scalar_value;
using interchange::text_member;

constexpr double kNsPerMillisecond = 1e6;

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  void read(std::string_view line) {
    ++number_;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) fail("expected one JSON object a line");
    if (tunables_.empty()) {
      read_header(json);
    } else {
      read_config(json);
    }
  }

  std::vector<RecordedTrials> finish() {
    if (groups_.empty())
      throw InputError(path_ + ": holds no config; expected lines behind its header");
    return std::move(groups_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError({path_, number_, 0}, message);
  }

  void read_header(const Json& json) {
    if (text_member(json, "version") != "1.0") fail("expected wisdom of version \"1.0\"");
    kernel_ = text_member(json, "key");
    objective_ = text_member(json, "objective");
    if (objective_ != "time") fail("expected the objective \"time\", not \"" + objective_ + "\"");
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
    const Json* time = find_member(json, objective_.c_str());
    if (time == nullptr || !time->is_number() || !(time->get<double>() > 0)) {
      fail("expected a number of milliseconds above 0 at \"time\"");
    }
    trial.time_ns = time->get<double>() * kNsPerMillisecond;
    RecordedTrials& group = group_of(json);
    for (std::size_t i = 0; i < trial.values.size(); ++i) {
      std::vector<Value>& seen = group.tunables[i].values;
      if (std::find(seen.begin(), seen.end(), trial.values[i]) == seen.end()) {
        seen.push_back(trial.values[i]);
      }
    }
    group.trials.push_back(std::move(trial));
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
    groups_.push_back({path_, kernel_, device, problem, tunables_, {}});
    return groups_.back();
  }

  std::string path_;
  int number_ = 0;
  std::string kernel_;
  std::string objective_;
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
  Reader reader(path);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace kiln
