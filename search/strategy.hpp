// Strategy: proposes configs and is told their trials. It never compiles, times or stores.
//
// One file per strategy in search/strategies/, found by name through make_strategy().
// docs/add_a_strategy.md says how to add one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trial.hpp"
#include "search/space.hpp"

namespace kiln {

class Prior;

/// Configs are named by their index in the space. Not for several threads.
class Strategy {
 public:
  virtual ~Strategy() = default;
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  /// Returns the next config to try, the default config first. Never returns a config twice, nor
  /// one that tell() reported. May be called many times before a tell(), to keep the compilers
  /// busy. Returns nullopt if there is nothing to propose now. If every proposed config was
  /// reported, nullopt means that the space is exhausted. In a space that is not exact
  /// (Space::is_exact), it means that a bounded search found no untried config.
  [[nodiscard]] virtual std::optional<std::size_t> ask() = 0;

  /// Reports the trial of a config, in any order. A config that was never asked may be told too: by
  /// a resumed session or a warm start.
  virtual void tell(std::size_t index, const Trial& trial) = 0;
};

/// Throws UsageError for a name that is no strategy, listing those there are. `space` must outlive
/// the strategy. The same seed and the same sequence of asks and tells give the same proposals.
/// `prior`: of the space, read while the strategy is made; `auto` and `bayesian` start without the
/// hopeless configs then. It forbids nothing: every config is still proposed in the end.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const std::string& name, const Space& space,
                                                      std::uint64_t seed,
                                                      const Prior* prior = nullptr);

/// A strategy as help texts show it.
struct StrategyInfo {
  std::string name;
  std::string summary;
};

/// All strategies, the default one first, the others by name.
[[nodiscard]] const std::vector<StrategyInfo>& strategies();

}  // namespace kiln
