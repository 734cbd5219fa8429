// The register of strategies: finds one by name, and lists all for help texts, the default first.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/suggest.hpp"
#include "search/strategies/base/strategy_entry.hpp"
#include "search/strategy.hpp"

namespace kiln {
namespace {

constexpr const char* kDefaultStrategy = "auto";

const std::vector<NamedStrategy>& entries() {
  static const std::vector<NamedStrategy> kEntries = [] {
    std::vector<NamedStrategy> all = strategies_by_file();
    std::stable_partition(all.begin(), all.end(), [](const NamedStrategy& strategy) {
      return strategy.name == kDefaultStrategy;
    });
    return all;
  }();
  return kEntries;
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(const std::string& name, const Space& space,
                                        std::uint64_t seed, const Prior* prior) {
  std::vector<std::string> names;
  for (const NamedStrategy& strategy : entries()) {
    if (strategy.name == name) return strategy.entry.make(space, seed, prior);
    names.push_back(strategy.name);
  }
  throw UsageError(fmt::format("there is no strategy '{}'{} (there are: {})", name,
                               did_you_mean(name, names), comma_list(names)));
}

const std::vector<StrategyInfo>& strategies() {
  static const std::vector<StrategyInfo> kInfos = [] {
    std::vector<StrategyInfo> infos;
    for (const NamedStrategy& strategy : entries()) {
      infos.push_back({strategy.name, strategy.entry.summary});
    }
    return infos;
  }();
  return kInfos;
}

}  // namespace kiln
