// SPDX-License-Identifier: Apache-2.0
#include "db/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "db/tiles.hpp"

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

// How far away a row is where it has a say: stale rows as far as they are ranked.
double distance_of(const Candidate& candidate) {
  constexpr double kLeast = 1.0 / 64;  // fields of weight 0 leave a distance of 0
  return std::max(kLeast, candidate.likeness.distance + candidate.handicap);
}

// Another session of the same problem: what it found, too, all relative to the faster best.
void add_row(std::vector<CloseConfig>& configs, double time_ns, const BestRecord& other) {
  const double faster = std::min(time_ns, other.time_ns);
  for (CloseConfig& known : configs) known.slowdown *= time_ns / faster;
  for (CloseConfig& close : known_configs(other)) {
    const bool is_known = std::any_of(configs.begin(), configs.end(), [&](const auto& known) {
      return known.config == close.config;
    });
    if (is_known) continue;
    close.slowdown *= other.time_ns / faster;
    configs.push_back(std::move(close));
  }
}

// All that rows of one problem say; the first of `rows` is the one that a lookup prefers.
std::vector<CloseConfig> say(std::span<const Candidate> rows) {
  std::vector<CloseConfig> configs = known_configs(*rows.front().best);
  double time_ns = rows.front().best->time_ns;
  for (const Candidate& row : rows.subspan(1)) {
    add_row(configs, time_ns, *row.best);
    time_ns = std::min(time_ns, row.best->time_ns);
  }
  std::stable_sort(configs.begin(), configs.end(),
                   [](const auto& a, const auto& b) { return a.slowdown < b.slowdown; });
  return configs;
}

// How many of the first rows are of one problem and equally stale.
std::size_t count_alike(std::span<const Candidate> rows) {
  std::size_t count = 1;
  while (count < rows.size() && rows[count].measured == rows.front().measured &&
         rows[count].handicap == rows.front().handicap) {
    ++count;
  }
  return count;
}

/// Rows of one problem.
using Rows = std::span<const Candidate>;

// Those that have a say, problem by problem.
std::vector<Rows> rows_within_reach(std::span<const Candidate> candidates) {
  std::vector<Rows> within;
  while (!candidates.empty() && within.size() < kMaxNeighbours) {
    if (!within.empty()) {
      const Candidate& nearest = within.front().front();
      const double reach = kReach * std::max(distance_of(nearest), kNearest);
      if (candidates.front().grade != nearest.grade) break;
      if (distance_of(candidates.front()) > reach) break;
    }
    within.push_back(candidates.first(count_alike(candidates)));
    candidates = candidates.subspan(within.back().size());
  }
  return within;
}

}  // namespace

std::vector<Neighbour> neighbours_of(const KernelSpec& spec, const Problem& problem,
                                     const DeviceInfo& device,
                                     std::span<const Candidate> candidates) {
  std::vector<Neighbour> neighbours;
  std::vector<std::string> bests;
  std::set<std::string> eligible;
  const std::vector<Rows> within = rows_within_reach(candidates);
  for (const Rows& rows : within) {
    neighbours.push_back({distance_of(rows.front()), say(rows)});
    const std::vector<CloseConfig>& said = neighbours.back().configs;
    bests.push_back(said.front().config);
    for (std::size_t i = 0; i < std::min(said.size(), kMaxConfigs); ++i) {
      if (said[i].slowdown <= kCloseFactor) eligible.insert(said[i].config);
    }
  }
  CarryOver carry_over(spec, problem, device);
  for (std::size_t i = 0; i < within.size(); ++i) {
    std::vector<CloseConfig>& said = neighbours[i].configs;
    std::erase_if(said, [&](const auto& close) { return !eligible.contains(close.config); });
    said = carry_over(std::move(said), bests, within[i].front().measured);
  }
  return neighbours;
}

std::vector<ExpectedConfig> rank_configs(std::span<const Neighbour> neighbours) {
  std::vector<ExpectedConfig> ranking;
  std::set<std::string> seen;
  for (const Neighbour& neighbour : neighbours) {
    for (const CloseConfig& close : neighbour.configs) {
      if (!seen.insert(close.config).second) continue;
      ranking.push_back({close.config, expected_slowdown(neighbours, close.config)});
    }
  }
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const auto& a, const auto& b) { return a.slowdown < b.slowdown; });
  return ranking;
}

}  // namespace kiln
