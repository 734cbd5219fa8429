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

template <typename Each>
bool is_faster(const Each& a, const Each& b) {
  return a.slowdown < b.slowdown;
}

template <typename Each>
const Each* find(const std::vector<Each>& configs, const std::string& config) {
  const auto found = std::find_if(configs.begin(), configs.end(),
                                  [&](const Each& each) { return each.config == config; });
  return found == configs.end() ? nullptr : &*found;
}

Statement statement_of(const Neighbour& neighbour, const std::string& config) {
  if (const Statement* known = find(neighbour.measured, config)) return *known;
  if (const Statement* guess = find(neighbour.inferred, config)) return *guess;
  return {config, kUnknownSlowdown, kUnknownSay};
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
  constexpr double kLeast = 1.0 / 8;  // problems that differ may have a distance of 0
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
  std::stable_sort(configs.begin(), configs.end(), is_faster<CloseConfig>);
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

/// What they hold.
struct Told {
  Problem problem;
  double distance = 0;
  std::vector<CloseConfig> configs;  ///< the fastest first
};

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

// The best of each, and its other close configs: what a lookup may answer with, in the order of
// their texts, with what any of them knows of its needs.
std::vector<CloseConfig> eligible_of(std::span<const Told> all) {
  std::map<std::string, CloseConfig> eligible;
  for (const Told& told : all) {
    for (std::size_t i = 0; i < std::min(told.configs.size(), kMaxConfigs); ++i) {
      const CloseConfig& close = told.configs[i];
      if (close.slowdown <= kCloseFactor) eligible.emplace(close.config, close);
    }
  }
  for (const Told& told : all) {
    for (const CloseConfig& each : told.configs) {
      const auto found = eligible.find(each.config);
      if (found == eligible.end()) continue;
      CloseConfig& needs = found->second;
      needs.registers = std::max(needs.registers, each.registers);
      needs.shared_bytes = std::max(needs.shared_bytes, each.shared_bytes);
    }
  }
  std::vector<CloseConfig> list;
  for (auto& [text, config] : eligible) list.push_back(std::move(config));
  return list;
}

/// What may be handed out, and where each stands among the others.
struct Eligible {
  std::vector<CloseConfig> configs;
  std::vector<ConfigPlace> places;  ///< of the same

  explicit Eligible(std::span<const Told> all) : configs(eligible_of(all)) {
    for (const CloseConfig& each : configs) places.emplace_back(each.config);
  }

  [[nodiscard]] std::optional<std::size_t> find(const std::string& config) const {
    const auto found = std::lower_bound(
        configs.begin(), configs.end(), config,
        [](const CloseConfig& each, const std::string& text) { return each.config < text; });
    if (found == configs.end() || found->config != config) return std::nullopt;
    return static_cast<std::size_t>(found - configs.begin());
  }
};

// What a problem says of each eligible config, by measurement or by what it measured of others. Of
// equal slowdowns the one that was told first stays in front.
Neighbour carry_over(const Told& told, const Eligible& eligible, std::span<const Carried> by) {
  Neighbour neighbour{told.distance, {}, {}};
  const auto state = [&](std::size_t i, double slowdown, double say) {
    return Statement{eligible.configs[i].config, std::max(kLeastSlowdown, slowdown * by[i].factor),
                     say * by[i].say};
  };
  std::vector<bool> known(eligible.configs.size());
  for (const CloseConfig& each : told.configs) {
    const std::optional<std::size_t> i = eligible.find(each.config);
    if (!i) continue;
    known[*i] = true;
    neighbour.measured.push_back(state(*i, each.slowdown, 1));
  }
  std::stable_sort(neighbour.measured.begin(), neighbour.measured.end(), is_faster<Statement>);
  const AlikeConfigs alike(told.configs);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i]) continue;
    const auto guess = alike.slowdown_of(eligible.places[i], kUnknownSlowdown);
    if (guess) neighbour.inferred.push_back(state(i, *guess, kInferredSay));
  }
  return neighbour;
}

}  // namespace

std::vector<Neighbour> neighbours_of(const KernelSpec& spec, const Problem& problem,
                                     const DeviceInfo& device,
                                     std::span<const Candidate> candidates) {
  std::vector<Told> all;
  for (const Rows& rows : rows_within_reach(candidates)) {
    all.push_back({rows.front().measured, distance_of(rows.front()), say(rows)});
  }
  const Eligible eligible(all);
  const CarryOver carry(spec, problem, device, eligible.configs);
  std::vector<Neighbour> neighbours;
  for (const Told& told : all) {
    neighbours.push_back(carry_over(told, eligible, carry.from(told.problem)));
  }
  return neighbours;
}

std::vector<ExpectedConfig> rank_configs(std::span<const Neighbour> neighbours) {
  std::vector<ExpectedConfig> ranking;
  std::set<std::string> seen;
  for (const Neighbour& neighbour : neighbours) {
    for (const Statement& each : neighbour.measured) {
      if (!seen.insert(each.config).second) continue;
      ranking.push_back({each.config, expected_slowdown(neighbours, each.config)});
    }
  }
  std::stable_sort(ranking.begin(), ranking.end(), is_faster<ExpectedConfig>);
  return ranking;
}

}  // namespace kiln
