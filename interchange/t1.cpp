// SPDX-License-Identifier: Apache-2.0
#include "interchange/t1.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "interchange/json_reading.hpp"
#include "interchange/value_list.hpp"

namespace kiln {
namespace {

using interchange::find_member;
using interchange::OrderedJson;
using interchange::PlaceFinder;
using interchange::text_member;

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

}  // namespace

bool is_t1(const OrderedJson& json) { return find_member(json, "ConfigurationSpace") != nullptr; }

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

}  // namespace kiln
