// Reduces the rows of each family to two: its first way and its fastest.
// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/host/row.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace kiln::peers {
namespace {

bool faster(const Row& a, const Row& b) { return a.peer_us < b.peer_us; }

/// `rows`: all of one family, in its order.
void add_first_and_best(const std::vector<Row>& rows, std::vector<Row>& kept) {
  std::vector<double> us;
  for (const Row& row : rows) us.push_back(row.peer_us);
  Row first = rows.front();
  Row best = *std::min_element(rows.begin(), rows.end(), faster);
  first.role = Role::first;
  first.peer = fmt::format("{}, first of {}", first.choice->family, rows.size());
  best.role = Role::best;
  best.peer = fmt::format("{}, best of {}: no. {}", best.choice->family, rows.size(),
                          best.choice->index + 1);
  first.family_us = us;
  best.family_us = us;
  kept.push_back(std::move(first));
  kept.push_back(std::move(best));
}

}  // namespace

std::vector<Row> first_and_best(const std::vector<Row>& rows) {
  std::vector<Row> kept;
  std::set<std::string> done;
  for (const Row& row : rows) {
    if (!row.choice) {
      kept.push_back(row);
    } else if (done.insert(row.choice->family).second) {
      std::vector<Row> family;
      for (const Row& other : rows) {
        if (other.choice && other.choice->family == row.choice->family) family.push_back(other);
      }
      add_first_and_best(family, kept);
    }
  }
  return kept;
}

}  // namespace kiln::peers
