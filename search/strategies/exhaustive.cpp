// exhaustive: every config, in the order of the space (after the default config).
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <fmt/format.h>

#include "search/strategies/base/strategy_base.hpp"
#include "search/strategies/base/strategy_entry.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostConfigs = 100'000'000;  // a year at three a second

class Exhaustive final : public StrategyBase {
 public:
  Exhaustive(const Space& space, std::uint64_t seed) : StrategyBase(space, seed) {
    if (space.size() <= kMostConfigs) return;
    throw UsageError(fmt::format(
        "exhaustive tries every config, and there are {}; expected at most {}: choose another "
        "strategy, or variants",
        space.size(), kMostConfigs));
  }

 private:
  std::optional<std::size_t> propose() override {
    Effort effort(std::numeric_limits<std::size_t>::max());  // every config: whatever it takes
    const auto next = space().first_wanted(
        {next_, space().size()}, [this](std::size_t index) { return !is_taken(index); }, effort);
    next_ = next.value_or(space().size());
    return next;
  }

  std::size_t next_ = 0;
};

}  // namespace

StrategyEntry exhaustive_strategy() { return strategy_entry<Exhaustive>("every config"); }

}  // namespace kiln
