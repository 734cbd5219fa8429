// SPDX-License-Identifier: Apache-2.0
#include "lookup/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "lookup/tiles.hpp"

namespace kiln {
namespace {

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
    const bool is_known =
        std::any_of(configs.begin(), configs.end(),
                    [&](const CloseConfig& known) { return known.config == close.config; });
    if (is_known) continue;
    close.slowdown *= other.time_ns / faster;
    configs.push_back(std::move(close));
  }
}

/// Sessions of one problem on one device, equally stale; the first is the one that a lookup
/// prefers.
using Rows = std::vector<const Candidate*>;

bool belongs(const Candidate& candidate, const Rows& rows) {
  const Candidate& first = *rows.front();
  return candidate.handicap == first.handicap && candidate.measured == first.measured &&
         candidate.best->key.device == first.best->key.device;
}

// What they say together.
std::vector<CloseConfig> say(const Rows& rows) {
  std::vector<CloseConfig> configs = known_configs(*rows.front()->best);
  double time_ns = rows.front()->best->time_ns;
  for (const Candidate* row : std::span(rows).subspan(1)) {
    add_row(configs, time_ns, *row->best);
    time_ns = std::min(time_ns, row->best->time_ns);
  }
  std::stable_sort(configs.begin(), configs.end(), [](const CloseConfig& a, const CloseConfig& b) {
    return a.slowdown < b.slowdown;
  });
  if (configs.size() > kMaxKnown) configs.resize(kMaxKnown);
  return configs;
}

/// What they hold.
struct Told {
  Problem problem;
  const DeviceInfo* device = nullptr;  ///< that measured it
  double distance = 0;
  std::vector<CloseConfig> configs;  ///< the fastest first
};

// Those that have a say.
std::vector<Rows> rows_within_reach(std::span<const Candidate> candidates) {
  std::vector<Rows> within;
  for (const Candidate& each : candidates) {
    const Candidate& nearest = candidates.front();
    const double reach = kReach * std::max(distance_of(nearest), kNearest);
    if (each.grade == Grade::fallback || distance_of(each) > reach) break;
    const auto known = std::find_if(within.begin(), within.end(),
                                    [&](const Rows& rows) { return belongs(each, rows); });
    if (known != within.end()) {
      known->push_back(&each);
    } else if (within.size() < kMaxNeighbours) {
      within.push_back({&each});
    }
  }
  return within;
}

/// Configs in the order in which they were first named, each with the most that any problem knows
/// of its needs.
class Union {
 public:
  /// The place of the config in the list.
  std::size_t add(const CloseConfig& named) {
    const auto [place, is_new] = places_.emplace(named.config, configs_.size());
    if (is_new) configs_.push_back(named);
    CloseConfig& needs = configs_[place->second];
    needs.registers = std::max(needs.registers, named.registers);
    needs.shared_bytes = std::max(needs.shared_bytes, named.shared_bytes);
    return place->second;
  }
  [[nodiscard]] const std::vector<CloseConfig>& configs() const { return configs_; }

 private:
  std::vector<CloseConfig> configs_;
  std::map<std::string, std::size_t> places_;
};

void add_eligible(Union& all, const Told& told) {
  for (std::size_t i = 0; i < std::min(told.configs.size(), kMaxConfigs); ++i) {
    if (told.configs[i].slowdown <= kCloseFactor) all.add(told.configs[i]);
  }
}

// Between the problem asked for, which comes first, and those around.
Distances distances_between(const KernelSpec& spec, std::span<const Told> around) {
  constexpr double kNothingAlike = 100;  // of another element size
  Distances distances(around.size() + 1, std::vector<double>(around.size() + 1));
  for (std::size_t i = 0; i < around.size(); ++i) {
    distances[0][i + 1] = distances[i + 1][0] = around[i].distance;
    for (std::size_t j = 0; j < i; ++j) {
      const auto likeness = kiln::likeness(spec, around[i].problem, around[j].problem);
      const double apart = likeness
                               ? likeness->distance +
                                     alignment_gap(spec, around[i].problem, around[j].problem) +
                                     device_gap(*around[i].device, *around[j].device)
                               : kNothingAlike;
      distances[i + 1][j + 1] = distances[j + 1][i + 1] = apart;
    }
  }
  return distances;
}

}  // namespace

NearbyBests neighbourhood_of(const Setting& setting, std::span<const Candidate> candidates) {
  std::vector<Told> around;
  for (const Rows& rows : rows_within_reach(candidates)) {
    const Candidate& first = *rows.front();
    around.push_back({first.measured, &first.best->device_info, distance_of(first), say(rows)});
  }
  NearbyBests all;
  Union known;
  for (const Told& told : around) add_eligible(known, told);
  all.eligible = known.configs().size();
  std::vector<std::vector<std::size_t>> places;
  for (const Told& told : around) {
    std::vector<std::size_t>& of_told = places.emplace_back();
    for (const CloseConfig& each : told.configs) of_told.push_back(known.add(each));
  }
  const CarryOver carry(setting, known.configs(), all.eligible);
  for (std::size_t i = 0; i < around.size(); ++i) {
    const Told& told = around[i];
    const std::vector<Carried> carried = carry.from(told.problem, *told.device, places[i]);
    for (std::size_t j = 0; j < carried.size(); ++j) {
      all.observations.push_back(
          {{places[i][j], i + 1}, told.configs[j].slowdown * carried[j].factor, carried[j].noise});
    }
  }
  for (const CloseConfig& each : known.configs()) all.configs.push_back(each.config);
  all.distances = distances_between(setting.spec(), around);
  return all;
}

std::vector<ExpectedConfig> rank_configs(const NearbyBests& neighbourhood) {
  std::vector<ConfigPlace> places;
  for (const std::string& each : neighbourhood.configs) places.emplace_back(each);
  std::vector<Site> asked;
  for (std::size_t i = 0; i < neighbourhood.eligible; ++i) asked.push_back({i, 0});
  const std::vector<SlowdownForecast> forecasts =
      krige(places, neighbourhood.distances, neighbourhood.observations, asked);

  std::vector<ExpectedConfig> ranking;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const double log_slowdown = forecasts[i].log_slowdown + kDoubt * forecasts[i].deviation;
    // Differences that only say in which order numbers were added are none.
    const double rounded = std::round(log_slowdown * 0x1p20) * 0x1p-20;
    ranking.push_back({neighbourhood.configs[i], std::exp(rounded)});
  }
  std::stable_sort(
      ranking.begin(), ranking.end(),
      [](const ExpectedConfig& a, const ExpectedConfig& b) { return a.slowdown < b.slowdown; });
  return ranking;
}

}  // namespace kiln
