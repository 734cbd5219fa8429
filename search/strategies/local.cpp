// local: iterated local search.
//
// A walk stands on one config and tries its neighbours (one tunable changed) in random order; the
// first that is faster becomes the new place. A walk that finds no faster neighbour has ended; the
// next one starts a few random steps away from the best config known, or now and then anywhere. The
// defaults of all variants come first: they tell cheaply which algorithm suits the problem.
//
// While trials are pending, further neighbours are proposed ahead, and when there are none left,
// further starts; the next walk begins at the best of them. When no untried config is found that
// way, the rest of the space follows in random order.
//
// Method: H. R. Lourenco, O. Martin, T. Stuetzle, "Iterated Local Search", Handbook of
// Metaheuristics (2003).
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <unordered_set>
#include <vector>

#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr int kLeastSteps = 2;  // of a perturbation; one is the walk's own move
constexpr int kMostSteps = 4;
constexpr double kRestartShare = 0.2;  // of the walks start anywhere, not near the best
constexpr int kAttempts = 64;          // to find an untried start before the rest is listed

// A config and its time.
struct Place {
  std::size_t index = 0;
  double ns = std::numeric_limits<double>::infinity();
};

class LocalSearch final : public StrategyBase {
 public:
  LocalSearch(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed),
        starts_to_ask_(space.default_indices().rbegin(), space.default_indices().rend()) {
    best_.index = space.default_index();
  }

 private:
  std::optional<std::size_t> propose() override {
    if (const auto start = next_of(starts_to_ask_)) return start;
    if (const auto neighbour = next_neighbour()) return neighbour;
    if (steps_pending_.empty() && begin_walk()) {
      if (const auto neighbour = next_neighbour()) return neighbour;
    }
    return next_start();
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    const bool step = steps_pending_.erase(index) == 1;
    if (!trial.ok()) return;
    const Place place{index, trial.time_ns};
    if (place.ns < best_.ns) best_ = place;
    if (!step) {
      if (place.ns < start_.ns) start_ = place;
    } else if (place.ns < walk_.ns) {
      stand_on(place);
    }
  }

  // Moves the walk; its neighbours are tried in random order.
  void stand_on(const Place& place) {
    walk_ = place;
    frontier_ = space().neighbours(place.index, Neighbourhood::hamming);
    random().shuffle(frontier_);
  }

  // Begins a walk at the best start told since the last one began. False when none was.
  bool begin_walk() {
    if (start_.ns == std::numeric_limits<double>::infinity()) return false;
    stand_on(start_);
    start_ = {};
    return true;
  }

  std::optional<std::size_t> next_neighbour() {
    const std::optional<std::size_t> index = next_of(frontier_);
    if (index) steps_pending_.insert(*index);
    return index;
  }

  std::optional<std::size_t> next_start() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto index = random().unit() < kRestartShare ? anywhere() : near_best();
      if (index && !is_taken(*index)) return index;
    }
    return untried();
  }

  // Uniform in the space or, as often, in the variant of the best config.
  std::optional<std::size_t> anywhere() {
    if (random().below(2) == 0) return sample({0, space().size()});
    return sample(space().variant_range(best_.index));
  }

  std::optional<std::size_t> near_best() {
    std::size_t index = best_.index;
    const auto steps = kLeastSteps + random().below(kMostSteps - kLeastSteps + 1);
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::vector<std::size_t> next = space().neighbours(index, Neighbourhood::hamming);
      if (next.empty()) break;
      index = next[random().below(next.size())];
    }
    return index;
  }

  std::vector<std::size_t> starts_to_ask_;         // defaults of the variants, last one first
  Place best_;                                     // of everything told; the default config before
  Place start_{};                                  // where the next walk begins
  Place walk_{};                                   // where the current walk stands
  std::vector<std::size_t> frontier_;              // its neighbours not yet tried
  std::unordered_set<std::size_t> steps_pending_;  // neighbours asked, not yet told
};

}  // namespace

StrategyEntry local_strategy() {
  return strategy_entry<LocalSearch>(
      "iterated local search: walks from the defaults and near the best config");
}

}  // namespace kiln
