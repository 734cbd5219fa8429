// multistart: walks downhill from random configs, each to a place where no neighbour is faster.
//
// Source: multi-start local search; Martí: "Multi-start methods", in the Handbook of Metaheuristics
// (2003). The first neighbour that is faster is taken, since a trial costs the same everywhere.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <unordered_set>
#include <vector>

#include "search/strategies/base/latin_start.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kSpreadStarts = 16;  // the first ones are spread, the others random

class MultiStart final : public StrategyBase {
 public:
  MultiStart(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed),
        starts_(latin_start(space, Coordinates(space), kSpreadStarts, random())) {}

 private:
  std::optional<std::size_t> propose() override {
    if (const auto neighbour = next_neighbour()) return neighbour;
    if (steps_pending_.empty() && start_pending_.empty()) standing_ns_ = kNowhere;
    std::optional<std::size_t> start = next_of(starts_);
    if (!start) start = untried();
    if (start) start_pending_.insert(*start);
    return start;
  }

  // A start that is told begins a walk if none goes on; a step that is faster moves it.
  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    const bool step = steps_pending_.erase(index) == 1;
    const bool start = start_pending_.erase(index) == 1;
    if (!trial.ok() || trial.time_ns >= standing_ns_) return;
    if (!step && !(start && frontier_.empty())) return;
    standing_ns_ = trial.time_ns;
    frontier_ = space().neighbours(index, Neighbourhood::hamming);
    random().shuffle(frontier_);
  }

  std::optional<std::size_t> next_neighbour() {
    const std::optional<std::size_t> index = next_of(frontier_);
    if (index) steps_pending_.insert(*index);
    return index;
  }

  static constexpr double kNowhere = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> starts_;
  double standing_ns_ = kNowhere;                  // where the walk stands
  std::vector<std::size_t> frontier_;              // its neighbours not yet tried
  std::unordered_set<std::size_t> steps_pending_;  // neighbours asked, not yet told
  std::unordered_set<std::size_t> start_pending_;
};

}  // namespace

StrategyEntry multistart_strategy() {
  return strategy_entry<MultiStart>("local search from many starts");
}

}  // namespace kiln
