// The register of strategies. A new one is a file in search/strategies/ and a line here.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "core/suggest.hpp"
#include "search/strategies/factories.hpp"
#include "search/strategy.hpp"

namespace kiln {
namespace {

struct Entry {
  StrategyInfo info;
  std::function<std::unique_ptr<Strategy>(const Space&, std::uint64_t, const Prior*)> make;
};

/// A strategy that knows nothing beforehand.
auto without_prior(std::unique_ptr<Strategy> (*make)(const Space&, std::uint64_t)) {
  return [make](const Space& space, std::uint64_t seed, const Prior*) { return make(space, seed); };
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> kEntries = {
      {{"auto", "Kiln's mixture: a model of the times, asked for promising and for fast configs"},
       make_auto},
      {{"bayesian", "Gaussian process, largest expected improvement"}, make_bayesian},
      {{"local", "iterated local search: walks from the defaults and near the best config"},
       without_prior(make_local)},
      {{"multistart", "local search from many starts"}, without_prior(make_multistart)},
      {{"annealing", "simulated annealing"}, without_prior(make_annealing)},
      {{"genetic", "crosses and mutates the fastest configs"}, without_prior(make_genetic)},
      {{"evolution", "differential evolution"}, without_prior(make_evolution)},
      {{"swarm", "particle swarm"}, without_prior(make_swarm)},
      {{"bandit", "shares the trials among local, annealing, genetic, evolution and swarm"},
       without_prior(make_bandit)},
      {{"random", "Latin hypercube, then uniform, without replacement"},
       without_prior(make_random)},
      {{"exhaustive", "every config"}, without_prior(make_exhaustive)},
  };
  return kEntries;
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(const std::string& name, const Space& space,
                                        std::uint64_t seed, const Prior* prior) {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry.make(space, seed, prior);
    names.push_back(entry.info.name);
  }
  throw UsageError(fmt::format("there is no strategy '{}'{} (there are: {})", name,
                               did_you_mean(name, names), comma_list(names)));
}

const std::vector<StrategyInfo>& strategies() {
  static const std::vector<StrategyInfo> kInfos = [] {
    std::vector<StrategyInfo> infos;
    for (const Entry& entry : entries()) infos.push_back(entry.info);
    return infos;
  }();
  return kInfos;
}

}  // namespace kiln
