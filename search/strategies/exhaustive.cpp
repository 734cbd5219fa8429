// exhaustive: every config, in the order of the space (after the default config).
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "search/strategies/factories.hpp"
#include "search/strategies/strategy_base.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostConfigs = 100'000'000;  // a year at three a second

class Exhaustive final : public StrategyBase {
 public:
  using StrategyBase::StrategyBase;

 private:
  std::optional<std::size_t> propose() override {
    while (next_ < space().size() && is_taken(next_)) ++next_;
    if (next_ == space().size()) return std::nullopt;
    return next_;
  }

  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const Space& space, std::uint64_t seed) {
  if (space.size() > kMostConfigs) {
    throw UsageError(fmt::format(
        "exhaustive tries every config, and there are {}; expected at most {}: choose another "
        "strategy, or variants",
        space.size(), kMostConfigs));
  }
  return std::make_unique<Exhaustive>(space, seed);
}

}  // namespace kiln
