// random: uniform over the configs of all variants, without replacement. The baseline for the
// others.
// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/factories.hpp"
#include "search/strategies/strategy_base.hpp"

namespace kiln {
namespace {

class RandomSearch final : public StrategyBase {
 public:
  RandomSearch(const Space& space, std::uint64_t seed)
      : StrategyBase(space, seed), order_(space.size()) {}

 private:
  std::optional<std::size_t> propose() override {
    std::optional<std::size_t> index = order_.next(random());
    while (index && is_taken(*index)) index = order_.next(random());
    return index;
  }

  RandomOrder order_;
};

}  // namespace

std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed) {
  return std::make_unique<RandomSearch>(space, seed);
}

}  // namespace kiln
