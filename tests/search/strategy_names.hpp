// The names of all strategies, for suites over them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "search/strategy.hpp"

namespace kiln::test {

/// In the order of the register, without those of `but`.
inline std::vector<std::string> strategy_names(const std::set<std::string>& but = {}) {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) {
    if (!but.contains(info.name)) names.push_back(info.name);
  }
  return names;
}

}  // namespace kiln::test
