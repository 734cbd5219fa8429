// SPDX-License-Identifier: Apache-2.0
#include "db/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "db/alike_configs.hpp"
#include "db/tiles.hpp"

namespace kiln {
namespace {

/// What a neighbour says of a config.
struct Statement {
  double slowdown = kUnknownSlowdown;
  double say = 1;  ///< as a multiple of what its distance gives it
};

const CloseConfig* find(std::span<const CloseConfig> configs, const std::string& config) {
  const auto found = std::find_if(configs.begin(), configs.end(),
                                  [&](const auto& each) { return each.config == config; });
  return found == configs.end() ? nullptr : &*found;
}

Statement statement_of(const Neighbour& neighbour, const std::string& config) {
  if (const CloseConfig* known = find(neighbour.configs, config)) return {known->slowdown, 1};
  if (const CloseConfig* guess = find(neighbour.inferred, config)) {
    return {guess->slowdown, kInferredSay};
  }
  return {};
}

double expected_slowdown(std::span<const Neighbour> neighbours, const std::string& config) {
  double sum = 0;
  double squares = 0;
  double weights = 0;
  for (const Neighbour& neighbour : neighbours) {
    const Statement statement = statement_of(neighbour, config);
    const double weight = statement.say / (neighbour.distance * neighbour.distance);
    const double slowdown = std::log(statement.slowdown);
    sum += weight * slowdown;
    squares += weight * slowdown * slowdown;
    weights += weight;
  }
  const double mean = sum / weights;
  const double deviation = std::sqrt(std::max(0.0, squares / weights - mean * mean));
  return std::exp(mean + kDoubt * deviation);
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
    if (find(configs, close.config) != nullptr) continue;
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

// The best of each, and its other close configs: what a lookup may answer with.
std::set<std::string> eligible_of(std::span<const Neighbour> neighbours) {
  std::set<std::string> eligible;
  for (const Neighbour& neighbour : neighbours) {
    const std::vector<CloseConfig>& said = neighbour.configs;
    for (std::size_t i = 0; i < std::min(said.size(), kMaxConfigs); ++i) {
      if (said[i].slowdown <= kCloseFactor) eligible.insert(said[i].config);
    }
  }
  return eligible;
}

// What is said of each config that is eligible and was not measured.
std::vector<CloseConfig> infer(const std::vector<CloseConfig>& measured,
                               const std::map<std::string, ConfigPlace>& eligible) {
  const AlikeConfigs alike(measured);
  std::vector<CloseConfig> inferred;
  for (const auto& [config, place] : eligible) {
    if (find(measured, config) != nullptr) continue;
    const std::optional<double> slowdown = alike.slowdown_of(place, kUnknownSlowdown);
    if (slowdown) inferred.push_back({config, *slowdown});
  }
  return inferred;
}

}  // namespace

std::vector<Neighbour> neighbours_of(const KernelSpec& spec, const Problem& problem,
                                     const DeviceInfo& device,
                                     std::span<const Candidate> candidates) {
  const std::vector<Rows> within = rows_within_reach(candidates);
  std::vector<Neighbour> neighbours;
  std::vector<std::string> bests;
  for (const Rows& rows : within) {
    neighbours.push_back({distance_of(rows.front()), say(rows), {}});
    bests.push_back(neighbours.back().configs.front().config);
  }
  std::map<std::string, ConfigPlace> eligible;
  for (const std::string& config : eligible_of(neighbours)) {
    eligible.emplace(config, ConfigPlace(config));
  }
  CarryOver carry_over(spec, problem, device);
  for (std::size_t i = 0; i < within.size(); ++i) {
    std::vector<CloseConfig>& said = neighbours[i].configs;
    neighbours[i].inferred = infer(said, eligible);
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
