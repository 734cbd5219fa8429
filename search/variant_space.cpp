// SPDX-License-Identifier: Apache-2.0
#include "search/variant_space.hpp"

#include <algorithm>

namespace kiln {
namespace {

std::optional<ValueIndex> find_value(const SpaceTunable& tunable, const Value& value) {
  const auto found = std::find(tunable.values.begin(), tunable.values.end(), value);
  if (found == tunable.values.end()) return std::nullopt;
  return static_cast<ValueIndex>(found - tunable.values.begin());
}

}  // namespace

VariantSpace::VariantSpace(const Variant& variant) : name_(variant.name) {
  for (const Tunable& tunable : variant.tunables) {
    SpaceTunable out{tunable.name, tunable.values, 0};
    out.fallback = find_value(out, tunable.fallback).value_or(0);
    tunables_.push_back(std::move(out));
  }
}

void VariantSpace::append(std::span<const ValueIndex> row) {
  rows_.insert(rows_.end(), row.begin(), row.end());
  ++size_;
}

std::span<const ValueIndex> VariantSpace::row(std::size_t index) const {
  return std::span(rows_).subspan(index * tunables_.size(), tunables_.size());
}

Config VariantSpace::at(std::size_t index) const {
  Config config{name_, {}};
  const std::span<const ValueIndex> values = row(index);
  for (std::size_t t = 0; t < tunables_.size(); ++t) {
    if (values[t] == kAbsent) continue;
    config.values.emplace_back(tunables_[t].name, tunables_[t].values[values[t]]);
  }
  return config;
}

std::optional<std::size_t> VariantSpace::index_of(const Config& config) const {
  RowRange rows{0, size_};
  auto next = config.values.begin();
  for (std::size_t t = 0; t < tunables_.size(); ++t) {
    ValueIndex value = kAbsent;
    if (next != config.values.end() && next->first == tunables_[t].name) {
      const std::optional<ValueIndex> index = find_value(tunables_[t], next->second);
      if (!index) return std::nullopt;
      value = *index;
      ++next;
    }
    rows = narrow(rows, t, value);
  }
  if (next != config.values.end() || rows.empty()) return std::nullopt;
  return rows.first;
}

std::optional<std::size_t> VariantSpace::index_of(std::span<const ValueIndex> row) const {
  RowRange rows{0, size_};
  for (std::size_t t = 0; t < tunables_.size() && !rows.empty(); ++t) {
    rows = narrow(rows, t, row[t]);
  }
  if (rows.empty()) return std::nullopt;
  return rows.first;
}

std::optional<std::size_t> VariantSpace::default_index() const {
  RowRange rows{0, size_};
  for (std::size_t t = 0; t < tunables_.size() && !rows.empty(); ++t) {
    const bool absent = row(rows.first)[t] == kAbsent;
    rows = narrow(rows, t, absent ? kAbsent : tunables_[t].fallback);
  }
  if (rows.empty()) return std::nullopt;
  return rows.first;
}

std::vector<std::size_t> VariantSpace::hamming_neighbours(std::size_t index) const {
  std::vector<std::size_t> out;
  for (std::size_t t = 0; t < tunables_.size(); ++t) {
    const ValueIndex here = row(index)[t];
    if (here == kAbsent) continue;
    const RowRange prefix = prefix_range(index, t);
    for (std::size_t v = 0; v < tunables_[t].values.size(); ++v) {
      if (v == here) continue;
      const auto neighbour = complete(narrow(prefix, t, static_cast<ValueIndex>(v)), index, t + 1);
      if (neighbour) out.push_back(*neighbour);
    }
  }
  return out;
}

std::vector<std::size_t> VariantSpace::adjacent_neighbours(std::size_t index) const {
  std::vector<std::size_t> out;
  for (std::size_t t = 0; t < tunables_.size(); ++t) {
    const int here = row(index)[t];
    if (here == kAbsent) continue;
    const RowRange prefix = prefix_range(index, t);
    const int count = static_cast<int>(tunables_[t].values.size());
    for (const int direction : {-1, +1}) {
      for (int v = here + direction; v >= 0 && v < count; v += direction) {
        const auto neighbour =
            complete(narrow(prefix, t, static_cast<ValueIndex>(v)), index, t + 1);
        if (!neighbour) continue;
        out.push_back(*neighbour);
        break;
      }
    }
  }
  return out;
}

// The rows of `rows` with `value` in `column`. All of `rows` must agree in the columns before.
VariantSpace::RowRange VariantSpace::narrow(RowRange rows, std::size_t column,
                                            ValueIndex value) const {
  const auto first_not = [&](auto&& before) {
    std::size_t low = rows.first;
    std::size_t high = rows.last;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (before(rows_[middle * tunables_.size() + column])) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {first_not([value](ValueIndex other) { return other < value; }),
          first_not([value](ValueIndex other) { return other <= value; })};
}

// The rows that agree with row `index` in the first `columns` columns.
VariantSpace::RowRange VariantSpace::prefix_range(std::size_t index, std::size_t columns) const {
  RowRange rows{0, size_};
  for (std::size_t t = 0; t < columns; ++t) rows = narrow(rows, t, row(index)[t]);
  return rows;
}

// The row among `rows` that goes on from `column` like row `index`; tunables that exist here and
// not there take their default, or their first legal value.
std::optional<std::size_t> VariantSpace::complete(RowRange rows, std::size_t index,
                                                  std::size_t column) const {
  for (std::size_t t = column; t < tunables_.size() && !rows.empty(); ++t) {
    const ValueIndex first = row(rows.first)[t];
    const ValueIndex wanted = row(index)[t];
    if (first == kAbsent) continue;  // absent in all of them
    if (wanted != kAbsent) {
      rows = narrow(rows, t, wanted);
      continue;
    }
    const RowRange with_default = narrow(rows, t, tunables_[t].fallback);
    rows = with_default.empty() ? narrow(rows, t, first) : with_default;
  }
  if (rows.empty()) return std::nullopt;
  return rows.first;
}

}  // namespace kiln
