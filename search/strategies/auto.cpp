// auto: Kiln's own mixture, the default.
//
// It begins with the default config of every variant, since somebody chose those. Then come the
// best configs by forecast, if the spec describes its loops, and a Latin hypercube. After that, a
// model of the times (search/model/model_search.hpp) proposes two configs with the largest expected
// improvement for each config that it predicts to be the fastest. The latter is usually a neighbour
// of the best config. So a search ends as a local search, while expected improvement alone keeps
// exploring. While the model predicts badly, every other proposal comes from local search, which
// needs no smoothness.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "search/model/model_search.hpp"
#include "search/strategies/base/forecast_start.hpp"
#include "search/strategies/base/latin_start.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kForecastStart = 10;  // where the spec describes its loops
constexpr std::size_t kSmallStart = 8;
constexpr std::size_t kLargeStart = 32;  // of a space of so many configs or more:
constexpr std::size_t kLargeSpace = 1'000'000;
constexpr std::size_t kGreedyEvery = 3;  // proposals
constexpr std::size_t kLocalEvery = 2;   // proposals, while the model is not trusted
constexpr double kTrusted = 0.5;         // skill of the model from which on it works alone

class Auto final : public StrategyBase {
 public:
  Auto(const Space& space, std::uint64_t seed, const Prior* prior)
      : StrategyBase(space, seed),
        coordinates_(space),
        model_(space, coordinates_, random(),
               [this](std::size_t index) { return is_taken(index); }),
        start_(latin_start(space, coordinates_,
                           space.size() < kLargeSpace ? kSmallStart : kLargeStart, random(),
                           prior)),
        local_(make_strategy("local", space, random().below(UINT64_MAX))) {
    if (prior != nullptr) {
      const auto forecasts = forecast_start(space, kForecastStart, random(), *prior);
      start_.insert(start_.end(), forecasts.rbegin(), forecasts.rend());
    }
    const std::vector<std::size_t>& defaults = space.default_indices();
    start_.insert(start_.end(), defaults.rbegin(), defaults.rend());
  }

 private:
  std::optional<std::size_t> propose() override {
    if (const auto index = next_of(start_)) return index;
    ++proposals_;
    if (proposals_ % kLocalEvery == 0 && model_.skill().value_or(1) < kTrusted) {
      if (const auto index = next_of_local()) return index;
    }
    const bool greedy = proposals_ % kGreedyEvery == 0;
    if (const auto index = model_.propose(greedy ? Choice::fastest : Choice::improvement)) {
      return index;
    }
    return untried();
  }

  std::optional<std::size_t> next_of_local() {
    std::optional<std::size_t> index = local_->ask();
    while (index && is_taken(*index)) index = local_->ask();  // its trial comes to all
    if (index) model_.expect(*index);
    return index;
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    model_.learn(index, trial);
    local_->tell(index, trial);
  }

  Coordinates coordinates_;
  ModelSearch model_;
  std::vector<std::size_t> start_;  // last one first
  std::unique_ptr<Strategy> local_;
  std::size_t proposals_ = 0;
};

}  // namespace

StrategyEntry auto_strategy() {
  return strategy_entry<Auto>(
      "Kiln's own: a model of the times proposes promising and fast configs");
}

}  // namespace kiln
