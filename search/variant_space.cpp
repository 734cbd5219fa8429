// SPDX-License-Identifier: Apache-2.0
#include "search/variant_space.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/legal_scan.hpp"

namespace kiln {
namespace {

std::optional<ValueIndex> find_value(const SpaceTunable& tunable, const Value& value) {
  const auto found = std::find(tunable.values.begin(), tunable.values.end(), value);
  if (found == tunable.values.end()) return std::nullopt;
  return static_cast<ValueIndex>(found - tunable.values.begin());
}

}  // namespace

/// A config on its way down the diagram.
struct VariantSpace::Way {
  std::vector<ValueIndex> values;  // per column
  std::vector<Place> places;       // per column
};

VariantSpace::VariantSpace(const Variant& variant) : name_(variant.name) {
  for (const Tunable& tunable : variant.tunables) {
    SpaceTunable out{tunable.name, tunable.values, 0};
    out.fallback = find_value(out, tunable.fallback).value_or(0);
    tunables_.push_back(std::move(out));
  }
  columns_.resize(tunables_.size());
  std::iota(columns_.begin(), columns_.end(), std::size_t{0});
}

VariantSpace::VariantSpace(const Variant& variant, RuleSet rules, BuiltDiagram built)
    : VariantSpace(variant) {
  columns_.clear();
  for (const std::size_t v : built.order.variables) {
    columns_.push_back(rules.variables()[v].tunable);
  }
  diagram_ = std::move(built.diagram);
  const bool is_exact = std::find(built.late.begin(), built.late.end(), true) == built.late.end();
  if (is_exact) return;
  late_ = std::make_shared<const LateRules>(std::move(rules), built.late, std::move(built.order));
}

void VariantSpace::append(std::span<const ValueIndex> row) {
  appended_.insert(appended_.end(), row.begin(), row.end());
  has_appended_ = true;
}

void VariantSpace::shrink_to_fit() {
  if (!has_appended_) return;
  diagram_ = diagram_of_rows(appended_, tunables_.size());
  std::vector<std::size_t> value_counts;
  for (const SpaceTunable& tunable : tunables_) value_counts.push_back(tunable.values.size());
  list_ = RowList(appended_, value_counts);
  is_listed_ = !tunables_.empty() && list_.bytes() < diagram_.bytes();
  if (is_listed_) {
    diagram_ = {};
  } else {
    list_ = {};
  }
  appended_ = {};
  has_appended_ = false;
}

bool VariantSpace::is_legal(std::size_t index) const {
  return late_ == nullptr || late_->hold(row(index));
}

std::optional<std::size_t> VariantSpace::next_legal(std::size_t first, std::size_t last,
                                                    Effort& effort) const {
  if (late_ != nullptr) return LegalScan(diagram_, *late_).next(first, last, effort);
  if (first >= last || !effort.spend()) return std::nullopt;
  return first;
}

std::optional<VariantSpace::Place> VariantSpace::next(const Place& place, std::size_t column,
                                                      ValueIndex value) const {
  if (is_listed_) {
    const RowList::Range range = list_.within({place.before, place.last}, column, value);
    if (range.first == range.last) return std::nullopt;
    return Place{0, range.first, range.last};
  }
  const Diagram::Edge* edge = diagram_.find(place.node, value);
  if (edge == nullptr) return std::nullopt;
  return Place{edge->child, place.before + edge->before, 0};
}

ValueIndex VariantSpace::first_value(const Place& place, std::size_t column) const {
  return is_listed_ ? list_.value(place.before, column) : diagram_.edges(place.node).front().value;
}

std::vector<ValueIndex> VariantSpace::columns_at(std::size_t index) const {
  std::vector<ValueIndex> values(columns_.size());
  if (!is_listed_) {
    diagram_.row(index, values);
    return values;
  }
  for (std::size_t c = 0; c < values.size(); ++c) values[c] = list_.value(index, c);
  return values;
}

std::vector<ValueIndex> VariantSpace::row(std::size_t index) const {
  const std::vector<ValueIndex> values = columns_at(index);
  std::vector<ValueIndex> row(tunables_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) row[columns_[c]] = values[c];
  return row;
}

Config VariantSpace::at(std::size_t index) const {
  Config config{name_, {}};
  const std::vector<ValueIndex> values = row(index);
  for (std::size_t t = 0; t < tunables_.size(); ++t) {
    if (values[t] == kAbsent) continue;
    config.values.emplace_back(tunables_[t].name, tunables_[t].values[values[t]]);
  }
  return config;
}

std::optional<std::size_t> VariantSpace::index_of(const Config& config) const {
  std::vector<ValueIndex> row;
  auto next = config.values.begin();
  for (const SpaceTunable& tunable : tunables_) {
    row.push_back(kAbsent);
    if (next == config.values.end() || next->first != tunable.name) continue;
    const std::optional<ValueIndex> value = find_value(tunable, next->second);
    if (!value) return std::nullopt;
    row.back() = *value;
    ++next;
  }
  if (next != config.values.end()) return std::nullopt;
  return index_of(row);
}

std::optional<std::size_t> VariantSpace::index_of(std::span<const ValueIndex> row) const {
  std::vector<bool> in_diagram(row.size(), false);
  std::vector<ValueIndex> values;
  for (const std::size_t t : columns_) {
    values.push_back(row[t]);
    in_diagram[t] = true;
  }
  for (std::size_t t = 0; t < row.size(); ++t) {
    if (!in_diagram[t] && row[t] != 0) return std::nullopt;
  }
  if (size() == 0) return std::nullopt;
  Place place = start();
  for (std::size_t c = 0; c < values.size(); ++c) {
    const std::optional<Place> below = next(place, c, values[c]);
    if (!below) return std::nullopt;
    place = *below;
  }
  if (late_ != nullptr && !late_->hold(row)) return std::nullopt;
  return place.before;
}

std::optional<std::size_t> VariantSpace::default_index() const {
  if (size() == 0) return std::nullopt;
  std::vector<ValueIndex> wanted;
  for (const std::size_t t : columns_) wanted.push_back(tunables_[t].fallback);
  return follow(start(), 0, wanted);
}

std::vector<std::size_t> VariantSpace::hamming_neighbours(std::size_t index) const {
  std::vector<std::size_t> out;
  const Way way = way_to(index);
  for (std::size_t t = 0; t < tunables_.size(); ++t) {
    const auto column =
        static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), t) - columns_.begin());
    if (column == columns_.size() || way.values[column] == kAbsent) continue;
    for (std::size_t v = 0; v < tunables_[t].values.size(); ++v) {
      if (v == way.values[column]) continue;
      const auto neighbour = step(way, column, static_cast<ValueIndex>(v));
      if (neighbour) out.push_back(*neighbour);
    }
  }
  return out;
}

std::vector<std::size_t> VariantSpace::adjacent_neighbours(std::size_t index) const {
  std::vector<std::size_t> out;
  const Way way = way_to(index);
  for (std::size_t t = 0; t < tunables_.size(); ++t) {
    const auto column =
        static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), t) - columns_.begin());
    if (column == columns_.size() || way.values[column] == kAbsent) continue;
    const int here = way.values[column];
    const int count = static_cast<int>(tunables_[t].values.size());
    for (const int direction : {-1, +1}) {
      for (int v = here + direction; v >= 0 && v < count; v += direction) {
        const auto neighbour = step(way, column, static_cast<ValueIndex>(v));
        if (!neighbour) continue;
        out.push_back(*neighbour);
        break;
      }
    }
  }
  return out;
}

VariantSpace::Way VariantSpace::way_to(std::size_t index) const {
  Way way;
  way.values = columns_at(index);
  Place place = start();
  for (std::size_t c = 0; c < way.values.size(); ++c) {
    way.places.push_back(place);
    place = *next(place, c, way.values[c]);  // the config is there
  }
  return way;
}

// The config that differs from `way` in one column, or more where the rules leave no choice.
std::optional<std::size_t> VariantSpace::step(const Way& way, std::size_t column,
                                              ValueIndex value) const {
  const std::optional<Place> place = next(way.places[column], column, value);
  if (!place) return std::nullopt;
  return follow(*place, column + 1, way.values);
}

// Goes on with the wanted values; a tunable that exists here and is not wanted takes its default,
// or its first legal value; one that does not exist here stays absent.
std::optional<std::size_t> VariantSpace::follow(Place place, std::size_t column,
                                                const std::vector<ValueIndex>& wanted) const {
  for (std::size_t c = column; c < columns_.size(); ++c) {
    std::optional<Place> below = next(place, c, wanted[c]);
    if (!below) {
      const ValueIndex first = first_value(place, c);
      if (first != kAbsent && wanted[c] != kAbsent) return std::nullopt;
      below = next(place, c, tunables_[columns_[c]].fallback);
      if (!below) below = next(place, c, first);
    }
    place = *below;
  }
  if (!is_legal(place.before)) return std::nullopt;
  return place.before;
}

}  // namespace kiln
