// SPDX-License-Identifier: Apache-2.0
#include "interchange/space_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "interchange/json_reading.hpp"

namespace kiln {
namespace {

using interchange::find_member;
using interchange::OrderedJson;

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

}  // namespace

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

}  // namespace kiln
