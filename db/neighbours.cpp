// SPDX-License-Identifier: Apache-2.0
#include "db/neighbours.hpp"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

double slowdown_of(const Neighbour& neighbour, const std::string& config) {
  for (const CloseConfig& close : neighbour.configs) {
    if (close.config == config) return close.slowdown;
  }
  return kUnknownSlowdown;
}

double expected_slowdown(std::span<const Neighbour> neighbours, const std::string& config) {
  double sum = 0;
  double weights = 0;
  for (const Neighbour& neighbour : neighbours) {
    const double weight = 1 / (neighbour.distance * neighbour.distance);
    sum += weight * std::log(slowdown_of(neighbour, config));
    weights += weight;
  }
  return std::exp(sum / weights);
}

}  // namespace

std::vector<ExpectedConfig> rank_configs(std::span<const Neighbour> neighbours) {
  std::vector<ExpectedConfig> ranking;
  if (neighbours.empty()) return ranking;
  for (const CloseConfig& close : neighbours.front().configs) {
    if (close.slowdown > kTieWithBest) continue;
    ranking.push_back({close.config, expected_slowdown(neighbours, close.config)});
  }
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const auto& a, const auto& b) { return a.slowdown < b.slowdown; });
  return ranking;
}

}  // namespace kiln
