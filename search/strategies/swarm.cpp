// swarm: particles that fly through the positions of values, drawn to the best places they and
// all others have seen.
//
// Source: Kennedy, Eberhart: "Particle swarm optimization" (1995), with the inertia of Shi,
// Eberhart (1998). A particle whose trial is still out waits; a new one takes its turn.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <unordered_map>
#include <vector>

#include "search/moves.hpp"
#include "search/strategies/base/latin_start.hpp"
#include "search/strategies/base/population.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kParticles = 20;
constexpr double kInertia = 0.6;
constexpr double kPull = 1.5;  // most that either best place adds, as a share of the way there

struct Particle {
  std::size_t index = 0;  // where it is
  Member best;            // what it saw
  std::vector<double> velocity;
  bool waits = false;
};

class Swarm final : public StrategyBase {
 public:
  Swarm(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed),
        start_(latin_start(space, Coordinates(space), kParticles, random())) {}

 private:
  std::optional<std::size_t> propose() override {
    if (const auto index = next_of(start_)) return index;
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      turn_ = (turn_ + 1) % particles_.size();
      if (particles_[turn_].waits) continue;
      const auto place = free_place_near(space(), fly(particles_[turn_]), random(),
                                         [this](std::size_t index) { return is_taken(index); });
      if (!place) break;
      particles_[turn_].waits = true;
      flights_[*place] = turn_;
      return place;
    }
    return untried();
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    const auto flight = flights_.find(index);
    const bool flown = flight != flights_.end();
    const std::size_t number = flown ? flight->second : 0;
    if (flown) {
      particles_[number].waits = false;
      flights_.erase(flight);
    }
    if (!trial.ok()) return;
    const Member seen{index, trial.time_ns};
    if (seen.ns < best_.ns) best_ = seen;
    if (flown) {
      Particle& particle = particles_[number];
      particle.index = index;
      if (seen.ns < particle.best.ns) particle.best = seen;
    } else if (particles_.size() < kParticles) {
      const std::size_t tunables = space().row(index).values.size();
      particles_.push_back({index, seen, std::vector<double>(tunables, 0.0), false});
    }
  }

  std::size_t fly(Particle& particle) {
    const SpaceRow here = space().row(particle.index);
    const SpaceRow own = space().row(particle.best.index);
    const SpaceRow all = space().row(best_.index);
    if (all.variant != here.variant) {  // another algorithm is faster: join it
      particle.index = best_.index;
      particle.best = best_;
      particle.velocity.assign(all.values.size(), 0.0);
      return best_.index;
    }
    std::vector<ValueIndex> wanted = here.values;
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      if (wanted[t] == kAbsent || own.values[t] == kAbsent || all.values[t] == kAbsent) continue;
      double& velocity = particle.velocity[t];
      velocity = kInertia * velocity + kPull * random().unit() * (own.values[t] - wanted[t]) +
                 kPull * random().unit() * (all.values[t] - wanted[t]);
      wanted[t] = value_at(wanted[t] + velocity, space().tunables(here.variant)[t].values.size());
    }
    return move_towards(space(), particle.index, wanted, random());
  }

  std::vector<std::size_t> start_;
  std::vector<Particle> particles_;
  std::size_t turn_ = 0;
  Member best_{0, std::numeric_limits<double>::infinity()};
  std::unordered_map<std::size_t, std::size_t> flights_;  // config asked -> particle
};

}  // namespace

StrategyEntry swarm_strategy() { return strategy_entry<Swarm>("particle swarm"); }

}  // namespace kiln
