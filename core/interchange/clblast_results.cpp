// SPDX-License-Identifier: Apache-2.0
#include "core/interchange/clblast_results.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/interchange/json_parser.hpp"
#include "core/interchange/json_reading.hpp"
#include "core/interchange/recorded_rows.hpp"
#include "core/interchange/time_unit.hpp"
#include "core/interchange/tunable_values.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;
using interchange::find_member;
using interchange::JsonRow;
using interchange::NamedValues;
using interchange::number_value;
using interchange::shown;
using interchange::text_member;

constexpr std::string_view kArgument = "arg_";
constexpr const char* kPrecision = "PRECISION";
constexpr double kFailedTime = -1;

/// Reads the results of one tuner, be it a file or a section of the database.
class TunerReader {
 public:
  /// `head` holds everything but the results.
  TunerReader(const Json& head, RecordedTrials& recorded)
      : recorded_(recorded),
        precision_(text_of(head, "precision")),
        unit_ns_(interchange::stated_unit(head, recorded.path).value_or(interchange::kNsPerMs)) {
    recorded.kernel = text_member(head, "kernel");
    if (recorded.kernel.empty()) recorded.kernel = text_member(head, "kernel_family");
    recorded.device = text_member(head, "clblast_device_name");
    if (recorded.device.empty()) recorded.device = text_member(head, "device");
    for (const auto& [name, value] : head.items()) {
      if (!name.starts_with(kArgument)) continue;
      recorded.arguments.emplace_back(name.substr(kArgument.size()), text_of(head, name.c_str()));
    }
    if (!precision_.empty()) recorded.arguments.emplace_back("precision", precision_);
    const Json* names = find_member(head, "parameter_names");
    if (names != nullptr && names->is_array()) names_ = *names;
  }

  /// Throws InputError without a place for a result that cannot be read.
  void read(const Json& result) {
    RecordedTrial trial;
    const std::string fault =
        interchange::take_config(recorded_.tunables, config_of(result), trial.values);
    if (!fault.empty()) throw InputError(fault);
    read_time(result.is_array() ? &result[1] : find_member(result, "time"), trial);
    recorded_.trials.push_back(std::move(trial));
  }

 private:
  static std::string text_of(const Json& object, const char* key) {
    const Json* member = find_member(object, key);
    if (member == nullptr) return "";
    return member->is_string() ? member->get<std::string>() : shown(member);
  }

  [[nodiscard]] NamedValues config_of(const Json& result) {
    if (result.is_array()) return listed_config(result);
    const Json* parameters = find_member(result, "parameters");
    if (parameters == nullptr || !parameters->is_object() || parameters->empty()) {
      throw InputError("expected \"parameters\" to be an object with the tunables' values");
    }
    check_kernel(result);
    NamedValues config;
    for (const auto& [name, member] : parameters->items()) {
      const auto value = interchange::scalar_value(member);
      if (!value) {
        throw InputError(fmt::format("expected a value of {}, found {}", name, shown(&member)));
      }
      if (name == kPrecision) {
        check_precision(*value);
      } else {
        config.emplace_back(name, *value);
      }
    }
    return config;
  }

  /// The short form of the database: ["64,2,1", 0.25].
  [[nodiscard]] NamedValues listed_config(const Json& result) const {
    if (result.size() != 2 || !result[0].is_string()) {
      throw InputError("expected a result to be a list of values in quotes and a time");
    }
    std::string_view rest = result[0].get_ref<const std::string&>();
    NamedValues config;
    for (const Json& name : names_) {
      if (!name.is_string()) throw InputError("expected \"parameter_names\" to list names");
      const std::size_t end = std::min(rest.find(','), rest.size());
      if (end == 0) {
        throw InputError(
            fmt::format("expected {} values, one for each of \"parameter_names\", "
                        "found '{}'",
                        names_.size(), result[0].get_ref<const std::string&>()));
      }
      config.emplace_back(name.get<std::string>(), parse_value(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!rest.empty() || names_.empty()) {
      throw InputError(
          fmt::format("expected {} values, one for each of \"parameter_names\", "
                      "found '{}'",
                      names_.size(), result[0].get_ref<const std::string&>()));
    }
    return config;
  }

  void check_kernel(const Json& result) {
    const std::string kernel = text_member(result, "kernel");
    if (first_kernel_.empty()) first_kernel_ = kernel;
    if (kernel == first_kernel_) return;
    throw InputError(fmt::format("expected the kernel '{}' of the first result, found '{}'",
                                 first_kernel_, kernel));
  }

  void check_precision(const Value& value) const {
    if (precision_.empty() || to_text(value) == precision_) return;
    throw InputError(fmt::format("expected PRECISION to be {} as in the head of the file, found {}",
                                 precision_, to_text(value)));
  }

  void read_time(const Json* member, RecordedTrial& trial) const {
    const std::optional<double> number = member == nullptr ? std::nullopt : number_value(*member);
    if (number == kFailedTime) {
      trial.outcome = Outcome::launch_error;
      trial.message = shown(member);
      return;
    }
    if (!number || !std::isfinite(*number) || *number <= 0) {
      throw InputError("expected \"time\" above 0, or -1 for a failure, found " + shown(member));
    }
    trial.time_ns = *number * unit_ns_;
  }

  RecordedTrials& recorded_;
  std::string precision_;
  double unit_ns_;
  Json names_ = Json::array();  // of the short form
  std::string first_kernel_;    // of the results, where they name it
};

std::vector<RecordedTrials> read_sections(const interchange::JsonRows& file,
                                          const std::string& path) {
  std::vector<RecordedTrials> groups;
  for (const JsonRow& row : file.rows) {
    const std::string place = fmt::format("sections[{}]", groups.size());
    RecordedTrials& group = groups.emplace_back();
    group.path = fmt::format("{}: {}", path, place);
    group.is_part = true;
    try {
      const Json* results = find_member(row.json, "results");
      if (results == nullptr || !results->is_array() || results->empty()) {
        throw InputError(row.where, place + ": expected \"results\" to be a list of results");
      }
      TunerReader reader(row.json, group);
      for (std::size_t i = 0; i < results->size(); ++i) {
        try {
          reader.read((*results)[i]);
        } catch (const InputError& error) {
          group.bad.push_back(
              fmt::format("{}: {}.results[{}]: {}", to_text(row.where), place, i, error.what()));
        }
      }
    } catch (const InputError& error) {
      group.bad.emplace_back(error.what());
    }
    interchange::sort_values(group.tunables);
    drop_contradictions(group);
  }
  return groups;
}

}  // namespace

bool is_clblast_results(std::string_view text) {
  return text.find("\"kernel_family\"") != std::string_view::npos &&
         text.find("\"results\"") != std::string_view::npos && !is_clblast_database(text);
}

bool is_clblast_database(std::string_view text) {
  return text.find("\"sections\"") != std::string_view::npos &&
         text.find("\"kernel_family\"") != std::string_view::npos;
}

RecordedTrials read_clblast_results(std::string_view text, const std::string& path) {
  RecordedTrials recorded;
  const interchange::JsonRows file = interchange::open_results(text, path, "results", recorded);
  TunerReader reader(file.head, recorded);
  for (const JsonRow& row : file.rows) {
    try {
      reader.read(row.json);
    } catch (const InputError& error) {
      recorded.bad.push_back(
          fmt::format("{}: result {}: {}", to_text(row.where), row.key, error.what()));
    }
  }
  interchange::sort_values(recorded.tunables);
  drop_contradictions(recorded);
  return recorded;
}

std::vector<RecordedTrials> read_clblast_database(std::string_view text, const std::string& path) {
  const interchange::JsonRows file = interchange::parse_rows(text, path, "sections", "section");
  std::vector<RecordedTrials> groups = read_sections(file, path);
  interchange::add_faults(groups, file, path, "sections", "section",
                          "expected \"sections\" to be a list with at least one section");
  return groups;
}

}  // namespace kiln
