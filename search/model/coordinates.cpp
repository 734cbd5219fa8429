// SPDX-License-Identifier: Apache-2.0
#include "search/model/coordinates.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

namespace kiln {
namespace {

/// The values of one tunable name over all variants, ascending; texts in order of appearance.
struct Union {
  std::string name;
  std::vector<Value> values;
  bool may_be_absent = false;
};

bool is_text(const Value& value) { return std::holds_alternative<std::string>(value); }

std::vector<Union> unions_of(const Space& space) {
  std::vector<Union> all;
  std::map<std::string, std::size_t> variants_with;
  for (std::size_t v = 0; v < space.variant_count(); ++v) {
    for (const SpaceTunable& tunable : space.tunables(v)) {
      auto known = std::find_if(all.begin(), all.end(),
                                [&](const Union& each) { return each.name == tunable.name; });
      if (known == all.end()) known = all.insert(all.end(), {tunable.name, {}, false});
      ++variants_with[tunable.name];
      for (const Value& value : tunable.values) {
        std::vector<Value>& values = known->values;
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
      }
    }
  }
  for (Union& each : all) {
    each.may_be_absent = variants_with[each.name] < space.variant_count();
    if (std::none_of(each.values.begin(), each.values.end(), is_text)) {
      std::stable_sort(each.values.begin(), each.values.end(),
                       [](const Value& a, const Value& b) { return as_double(a) < as_double(b); });
    }
  }
  return all;
}

std::vector<float> even_steps(std::size_t count) {
  std::vector<float> places(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    places[i] = static_cast<float>(i) / static_cast<float>(count - 1);
  }
  return places;
}

// Exponents of the power of two that divides each value, from 0 to 1; empty where they say nothing
// that the order of the values does not say.
std::vector<float> alignments(const std::vector<Value>& values) {
  std::vector<float> places;
  bool all_powers = true;
  for (const Value& value : values) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number <= 0) return {};
    const auto bits = static_cast<std::uint64_t>(*number);
    all_powers = all_powers && std::has_single_bit(bits);
    places.push_back(static_cast<float>(std::countr_zero(bits)));
  }
  const auto [least, most] = std::minmax_element(places.begin(), places.end());
  const float low = *least;
  const float range = *most - low;
  if (all_powers || range == 0) return {};
  for (float& place : places) place = (place - low) / range;
  return places;
}

}  // namespace

Coordinates::Coordinates(const Space& space) : space_(space), sources_(space.variant_count()) {
  if (space.variant_count() > 1) {
    variant_places_ = even_steps(space.variant_count());
    ordered_.push_back(false);
  }
  for (const Union& each : unions_of(space)) {
    if (each.values.size() < 2 && !each.may_be_absent) continue;
    const bool ordered = std::none_of(each.values.begin(), each.values.end(), is_text);
    add_dimension(each.name, each.values, even_steps(each.values.size()), ordered);
    const std::vector<float> aligned = alignments(each.values);
    if (!aligned.empty()) add_dimension(each.name, each.values, aligned, ordered);
  }
}

void Coordinates::add_dimension(const std::string& name, const std::vector<Value>& values,
                                const std::vector<float>& places, bool ordered) {
  const std::size_t dimension = ordered_.size();
  ordered_.push_back(ordered);
  for (std::size_t v = 0; v < space_.variant_count(); ++v) {
    const std::vector<SpaceTunable>& tunables = space_.tunables(v);
    for (std::size_t t = 0; t < tunables.size(); ++t) {
      if (tunables[t].name != name) continue;
      Source source{t, dimension, {}};
      for (const Value& value : tunables[t].values) {
        const auto at = std::find(values.begin(), values.end(), value) - values.begin();
        source.places.push_back(places[static_cast<std::size_t>(at)]);
      }
      sources_[v].push_back(std::move(source));
    }
  }
}

std::vector<float> Coordinates::point(std::size_t index) const {
  const SpaceRow row = space_.row(index);
  std::vector<float> out(dimensions(), kNowhere);
  if (!variant_places_.empty()) out[0] = variant_places_[row.variant];
  for (const Source& source : sources_[row.variant]) {
    const ValueIndex value = row.values[source.tunable];
    if (value != kAbsent) out[source.dimension] = source.places[value];
  }
  return out;
}

float Coordinates::squared_distance(const std::vector<float>& a,
                                    const std::vector<float>& b) const {
  float sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const float step = difference(d, a[d], b[d]);
    sum += step * step;
  }
  return sum;
}

}  // namespace kiln
