// random: a Latin hypercube first, then uniform over the configs of all variants, without
// replacement. The baseline for the others.
// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/base/latin_start.hpp"
#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kRandomStart = 16;

class RandomSearch final : public StrategyBase {
 public:
  RandomSearch(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed),
        start_(latin_start(space, Coordinates(space), kRandomStart, random())) {}

 private:
  std::optional<std::size_t> propose() override {
    if (const auto index = next_of(start_)) return index;
    return untried();
  }

  std::vector<std::size_t> start_;
};

}  // namespace

StrategyEntry random_strategy() {
  return strategy_entry<RandomSearch>("Latin hypercube, then uniform, without replacement");
}

}  // namespace kiln
