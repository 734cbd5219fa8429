// bayesian: a Gaussian process over log times, asked for the largest expected improvement.
//
// Source: Jones, Schonlau, Welch: "Efficient global optimization of expensive black-box functions"
// (1998), with a Latin hypercube to start from, on the coordinates of search/model.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "search/model/model_search.hpp"
#include "search/strategies/base/latin_start.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kModelStart = 8;

class Bayesian final : public StrategyBase {
 public:
  Bayesian(const Space& space, std::uint64_t seed, const Prior* prior)
      : StrategyBase(space, seed),
        coordinates_(space),
        model_(space, coordinates_, random(),
               [this](std::size_t index) { return is_taken(index); }),
        start_(latin_start(space, coordinates_, kModelStart, random(), prior)) {}

 private:
  std::optional<std::size_t> propose() override {
    if (const auto index = next_of(start_)) return index;
    if (const auto index = model_.propose(Choice::improvement)) return index;
    return untried();
  }

  void learn(std::size_t index, const Trial& trial, bool /*asked*/) override {
    model_.learn(index, trial);
  }

  Coordinates coordinates_;
  ModelSearch model_;
  std::vector<std::size_t> start_;
};

}  // namespace

StrategyEntry bayesian_strategy() {
  return strategy_entry<Bayesian>("Gaussian process, largest expected improvement");
}

}  // namespace kiln
