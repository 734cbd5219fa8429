// SPDX-License-Identifier: Apache-2.0
#include "interchange/described_space.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "interchange/json_reading.hpp"
#include "interchange/json_rows.hpp"
#include "interchange/space_reading.hpp"
#include "interchange/value_list.hpp"

namespace kiln {
using interchange::find_member;
using interchange::OrderedJson;
using interchange::PlaceFinder;
using interchange::text_member;
namespace {

// T1 files: the input of an autotuner in the JSON form of the FAIR auto-tuning toolset (General,
// ConfigurationSpace with TuningParameters and Conditions, KernelSpecification). Only the space is
// read. Values are lists, or texts that hold a list of Python (value_list.hpp).

// Some files wrap the default in a list.
void read_default(const OrderedJson& parameter, Tunable& tunable) {
  const OrderedJson* given = find_member(parameter, "Default");
  if (given == nullptr) return;
  const bool wrapped = given->is_array() && given->size() == 1;
  const auto value = interchange::scalar_value(wrapped ? given->front() : *given);
  for (const Value& each : tunable.values) {
    if (value && is_same_value(each, *value)) tunable.fallback = each;
  }
}

Tunable read_parameter(const OrderedJson& parameter, PlaceFinder& places) {
  const std::string name = text_member(parameter, "Name");
  const SourceLocation where = name.empty() ? places.file() : places.next(name);
  const OrderedJson* values = find_member(parameter, "Values");
  if (name.empty() || values == nullptr || !(values->is_string() || values->is_array())) {
    throw InputError(where,
                     "expected each of \"TuningParameters\" to have a \"Name\" and "
                     "\"Values\", a list or the text of one");
  }
  Tunable tunable;
  if (values->is_string()) {
    const auto text = values->get<std::string>();
    const SourceLocation place = places.next(text);
    tunable = interchange::make_tunable(name, interchange::parse_value_list(text, place), where);
  } else {
    tunable = interchange::make_tunable(name, interchange::values_of(*values, name, where), where);
  }
  read_default(parameter, tunable);
  return tunable;
}

void read_conditions(const OrderedJson& conditions, Variant& variant, PlaceFinder& places) {
  for (const OrderedJson& condition : conditions) {
    const std::string text = text_member(condition, "Expression");
    if (text.empty()) {
      throw InputError(places.file(), fmt::format("expected each of \"Conditions\" to have an "
                                                  "\"Expression\", a text, not {}",
                                                  interchange::describe(condition)));
    }
    interchange::add_constraint(variant, text, places.next(text));
  }
}

std::string kernel_name(const OrderedJson& json, const std::string& path) {
  if (const OrderedJson* general = find_member(json, "General")) {
    const std::string name = text_member(*general, "BenchmarkName");
    if (!name.empty()) return name;
  }
  return std::filesystem::path(path).stem().string();
}

/// Does `json` look like a T1 file?
bool is_t1(const OrderedJson& json) { return find_member(json, "ConfigurationSpace") != nullptr; }

/// `json` is the parsed `text` of `path`. Throws InputError as read_described_spaces does.
DescribedSpace read_t1(const OrderedJson& json, std::string_view text, const std::string& path) {
  DescribedSpace space;
  space.name = kernel_name(json, path);
  space.variant.name = space.name;
  PlaceFinder places(text, path);
  space.variant.where = places.file();
  const OrderedJson& configuration = *find_member(json, "ConfigurationSpace");
  const OrderedJson* parameters = find_member(configuration, "TuningParameters");
  if (parameters == nullptr || !parameters->is_array() || parameters->empty()) {
    throw InputError(places.file(),
                     "expected \"TuningParameters\" to be a list of at least one parameter");
  }
  for (const OrderedJson& parameter : *parameters) {
    interchange::add_tunable(space.variant, read_parameter(parameter, places));
  }
  if (const OrderedJson* conditions = find_member(configuration, "Conditions")) {
    if (!conditions->is_array()) {
      throw InputError(places.file(), "expected \"Conditions\" to be a list");
    }
    read_conditions(*conditions, space.variant, places);
  }
  return space;
}

// Lists of spaces: {"spaces": [{"name": ..., "parameters": {name: [values]}, "constraints":
// [texts], "cartesian_size": number, "valid_size": number}]}, the sizes being optional.

std::optional<std::uint64_t> count_member(const OrderedJson& space, const char* key,
                                          const SourceLocation& where) {
  const OrderedJson* member = find_member(space, key);
  if (member == nullptr) return std::nullopt;
  if (member->is_number_unsigned()) return member->get<std::uint64_t>();
  throw InputError(where, fmt::format("expected \"{}\" to be a whole number, not {}", key,
                                      interchange::describe(*member)));
}

DescribedSpace read_space(const OrderedJson& json, interchange::PlaceFinder& places) {
  DescribedSpace space;
  space.name = interchange::text_member(json, "name");
  const SourceLocation where = space.name.empty() ? places.file() : places.next(space.name);
  const OrderedJson* parameters = find_member(json, "parameters");
  if (space.name.empty() || parameters == nullptr || !parameters->is_object()) {
    throw InputError(where,
                     "expected each of \"spaces\" to have a \"name\" and \"parameters\", "
                     "an object of lists of values");
  }
  space.variant.name = space.name;
  space.variant.where = where;
  for (const auto& [name, values] : parameters->items()) {
    const SourceLocation place = places.next(name);
    if (!values.is_array()) {
      throw InputError(place, fmt::format("expected a list of values for {}", name));
    }
    interchange::add_tunable(
        space.variant,
        interchange::make_tunable(name, interchange::values_of(values, name, place), place));
  }
  if (const OrderedJson* constraints = find_member(json, "constraints")) {
    if (!constraints->is_array()) throw InputError(where, "expected \"constraints\" to be a list");
    for (const OrderedJson& constraint : *constraints) {
      if (!constraint.is_string()) {
        throw InputError(where, "expected each constraint to be a text, not " +
                                    interchange::describe(constraint));
      }
      const auto text = constraint.get<std::string>();
      interchange::add_constraint(space.variant, text, places.next(text));
    }
  }
  space.combinations = count_member(json, "cartesian_size", where);
  space.configs = count_member(json, "valid_size", where);
  return space;
}

/// `json` is the parsed `text` of `path`. Throws InputError as read_described_spaces does.
std::vector<DescribedSpace> read_space_list(const OrderedJson& json, std::string_view text,
                                            const std::string& path) {
  interchange::PlaceFinder places(text, path);
  const OrderedJson* list = find_member(json, "spaces");
  if (list == nullptr || !list->is_array() || list->empty()) {
    throw InputError(places.file(), "expected \"spaces\" to be a list of at least one space");
  }
  std::vector<DescribedSpace> spaces;
  for (const OrderedJson& space : *list) spaces.push_back(read_space(space, places));
  return spaces;
}

}  // namespace

std::vector<DescribedSpace> read_described_spaces(std::string_view text, const std::string& path) {
  const interchange::OrderedJson json = interchange::parse_whole(text, path);
  if (is_t1(json)) return {read_t1(json, text, path)};
  if (interchange::find_member(json, "spaces") != nullptr) return read_space_list(json, text, path);
  throw InputError({path, 0, 0},
                   "expected a T1 file (with \"ConfigurationSpace\") or a list of spaces (with "
                   "\"spaces\")");
}

}  // namespace kiln
