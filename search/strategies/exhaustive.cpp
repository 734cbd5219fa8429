// exhaustive: every config, in the order of the space (after the default config).
// SPDX-License-Identifier: Apache-2.0
#include "search/strategies/factories.hpp"
#include "search/strategies/strategy_base.hpp"

namespace kiln {
namespace {

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
  return std::make_unique<Exhaustive>(space, seed);
}

}  // namespace kiln
