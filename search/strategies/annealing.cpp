// annealing: a random walk that accepts slower configs ever more rarely, and is heated up again
// from the best one when it has cooled down.
//
// Source: Kirkpatrick, Gelatt, Vecchi: "Optimization by simulated annealing" (1983). Slower by a
// factor f is accepted with probability f^(-1 / temperature), so that no time needs a unit.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "search/moves.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr double kHot = 0.5;     // twice as slow is accepted one time in four
constexpr double kCold = 0.005;  // 1% slower is accepted one time in seven
constexpr double kCooling = 0.97;

class Annealing final : public StrategyBase {
 public:
  Annealing(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed), here_(space.default_index()), best_(here_) {}

 private:
  std::optional<std::size_t> propose() override {
    const auto next = free_place_near(space(), random_neighbour(space(), here_, random()), random(),
                                      [this](std::size_t index) { return is_taken(index); });
    return next ? next : untried();
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    temperature_ *= kCooling;
    if (temperature_ < kCold) {
      temperature_ = kHot;
      here_ = best_;
      here_ns_ = best_ns_;
    }
    if (!trial.ok()) return;
    if (trial.time_ns < best_ns_) {
      best_ = index;
      best_ns_ = trial.time_ns;
    }
    const bool faster = trial.time_ns < here_ns_;
    if (!faster && random().unit() >= std::pow(here_ns_ / trial.time_ns, 1 / temperature_)) return;
    here_ = index;
    here_ns_ = trial.time_ns;
  }

  double temperature_ = kHot;
  std::size_t here_;
  double here_ns_ = std::numeric_limits<double>::infinity();
  std::size_t best_;
  double best_ns_ = std::numeric_limits<double>::infinity();
};

}  // namespace

StrategyEntry annealing_strategy() { return strategy_entry<Annealing>("simulated annealing"); }

}  // namespace kiln
