// genetic: crosses and mutates the fastest configs, one child at a time.
//
// Source: Syswerda: "Uniform crossover in genetic algorithms" (1989) and "A study of reproduction
// in generational and steady-state genetic algorithms" (1991): steady state, since trials end one
// by one.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "search/moves.hpp"
#include "search/strategies/base/latin_start.hpp"
#include "search/strategies/base/population.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kPopulation = 20;
constexpr double kMutation = 0.5;  // chance that a child takes one step of its own

class Genetic final : public StrategyBase {
 public:
  Genetic(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed),
        start_(latin_start(space, Coordinates(space), kPopulation, random())) {}

 private:
  std::optional<std::size_t> propose() override {
    if (const auto index = next_of(start_)) return index;
    if (population_.members().empty()) return untried();
    const auto place = free_place_near(space(), child(), random(),
                                       [this](std::size_t index) { return is_taken(index); });
    return place ? place : untried();
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    if (trial.ok()) population_.add({index, trial.time_ns});
  }

  std::size_t child() {
    const std::size_t mother = parent();
    const std::size_t father = parent();
    std::size_t index = mother;
    SpaceRow row = space().row(mother);
    const SpaceRow other = space().row(father);
    if (row.variant == other.variant) {
      for (std::size_t t = 0; t < row.values.size(); ++t) {
        if (random().below(2) == 0) row.values[t] = other.values[t];
      }
      index = move_towards(space(), mother, row.values, random());
    }
    return random().unit() < kMutation ? random_neighbour(space(), index, random()) : index;
  }

  // The better of two: a tournament.
  std::size_t parent() {
    const std::vector<Member>& members = population_.members();
    const std::size_t a = random().below(members.size());
    const std::size_t b = random().below(members.size());
    return members[std::min(a, b)].index;
  }

  std::vector<std::size_t> start_;
  Population population_{kPopulation};
};

}  // namespace

StrategyEntry genetic_strategy() {
  return strategy_entry<Genetic>("crosses and mutates the fastest configs");
}

}  // namespace kiln
