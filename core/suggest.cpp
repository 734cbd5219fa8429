// SPDX-License-Identifier: Apache-2.0
#include "core/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kiln {
namespace {

// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 64;  // no one mistypes a longer one; bounds the work
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::size_t allowed =
      (name.size() + 1) / 3;  // a third of the name; none of a single letter
  std::optional<std::string> best;
  std::size_t fewest = allowed + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t edits = edit_distance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = nearest_name(name, candidates);
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

}  // namespace kiln
