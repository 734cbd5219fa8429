// SPDX-License-Identifier: Apache-2.0
#include "interchange/t4_export.hpp"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json.hpp"
#include "core/json_line.hpp"
#include "core/version.hpp"
#include "interchange/t4.hpp"
#include "wisdom/wisdom.hpp"

namespace kiln {
namespace {

constexpr const char* kT4SchemaVersion = "1.0.0";
constexpr const char* kWisdomKey = "kiln_wisdom";  // in the metadata: the lines of wisdom text

double milliseconds(double ns) { return ns / 1e6; }

std::string_view invalidity_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "correct";
    case Outcome::constraint:
      return "constraints";
    case Outcome::compile_error:
    case Outcome::compile_timeout:
    case Outcome::compile_crash:
      return "compile";
    case Outcome::wrong_result:
      return "correctness";
    case Outcome::run_timeout:
      return "timeout";
    case Outcome::launch_error:
    case Outcome::device_fault:
    case Outcome::out_of_memory:
      break;
  }
  return "runtime";
}

Json times_of(const Trial& trial) {
  Json runtimes = Json::array();
  for (const double sample : trial.samples.ns) runtimes.push_back(milliseconds(sample));
  const auto cost = [](std::int64_t ns) { return milliseconds(static_cast<double>(ns)); };
  return {{"compilation_time", cost(trial.cost.compile_ns)},
          {"framework", cost(trial.cost.render_ns)},
          {"search_algorithm", 0},
          {"validation", cost(trial.cost.verify_ns)},
          {"runtimes", runtimes}};
}

Json result_of(const Trial& trial, const std::vector<std::string>& tunables) {
  Json configuration = Json::object();
  for (const std::string& name : tunables) {
    const auto value = std::find_if(trial.config.values.begin(), trial.config.values.end(),
                                    [&](const auto& each) { return each.first == name; });
    configuration[name] =
        value == trial.config.values.end() ? Json(kNoSuchTunable) : to_json(value->second);
  }
  Json measurements = Json::array();
  if (trial.ok()) {
    measurements.push_back(
        {{"name", "time"}, {"value", milliseconds(trial.time_ns)}, {"unit", "milliseconds"}});
  }
  return {{"configuration", configuration},
          {"times", times_of(trial)},
          {"invalidity", invalidity_of(trial.outcome)},
          {"correctness", trial.ok() ? 1 : 0},
          {"measurements", measurements},
          {"objectives", {"time"}}};
}

std::vector<std::string> tunables_of(const std::vector<const Trial*>& trials) {
  std::vector<std::string> names;
  for (const Trial* trial : trials) {
    for (const auto& value : trial->config.values) {
      if (std::find(names.begin(), names.end(), value.first) == names.end()) {
        names.push_back(value.first);
      }
    }
  }
  return names;
}

Json wisdom_lines(const BestRecord& best) {
  const std::string text = write_wisdom({&best, 1});
  Json lines = Json::array();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(Json::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string write_t4(const BestRecord& best, std::span<const TrialRecord> trials) {
  std::vector<const Trial*> own;
  for (const TrialRecord& record : trials) {
    if (record.trial.config.variant == best.config.variant) own.push_back(&record.trial);
  }
  const std::vector<std::string> tunables = tunables_of(own);
  Json results = Json::array();
  for (const Trial* trial : own) results.push_back(result_of(*trial, tunables));
  const Json file = {{"schema_version", kT4SchemaVersion},
                     {"metadata",
                      {{"timeunit", "milliseconds"},
                       {"tuner", std::string("kiln ") + kVersion},
                       {"kernel", best.key.kernel},
                       {"variant", best.config.variant},
                       {"problem", best.key.problem},
                       {"device", best.device_info.name},
                       {kWisdomKey, wisdom_lines(best)}}},
                     {"results", results}};
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::optional<std::string> wisdom_in_t4(std::string_view text) {
  if (!is_t4(text)) return std::nullopt;
  try {
    const Json file = parse_json_line(text);
    const auto metadata = file.find("metadata");
    if (metadata == file.end() || !metadata->is_object()) return std::nullopt;
    const auto lines = metadata->find(kWisdomKey);
    if (lines == metadata->end() || !lines->is_array()) return std::nullopt;
    std::string wisdom;
    for (const Json& line : *lines) wisdom += line.dump() + '\n';
    return wisdom;
  } catch (const std::exception&) {
    return std::nullopt;  // no JSON: whoever reads it next says what is wrong with it
  }
}

}  // namespace kiln
