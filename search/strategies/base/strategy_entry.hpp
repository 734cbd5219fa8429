// StrategyEntry: what the file of a strategy tells the register about it.
//
// search/strategies/NAME.cpp defines `StrategyEntry NAME_strategy()`, and nothing else names the
// strategy: search/CMakeLists.txt writes the list of these functions from the names of the files,
// since a linker drops an object of a static library that nothing refers to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "search/strategy.hpp"

namespace kiln {

struct StrategyEntry {
  std::string summary;  // one line for help texts
  /// Makes the strategy. The space outlives it; the prior may be null and is read only here.
  std::function<std::unique_ptr<Strategy>(const Space&, std::uint64_t seed, const Prior*)> make;
};

/// The entry of the class `Made`. Its constructor takes (space, seed, prior), or (space, seed) if
/// it does not use what is known before compiling.
template <typename Made>
[[nodiscard]] StrategyEntry strategy_entry(std::string summary) {
  return {
      std::move(summary),
      [](const Space& space, std::uint64_t seed,
         [[maybe_unused]] const Prior* prior) -> std::unique_ptr<Strategy> {
        if constexpr (std::is_constructible_v<Made, const Space&, std::uint64_t, const Prior*>) {
          return std::make_unique<Made>(space, seed, prior);
        } else {
          return std::make_unique<Made>(space, seed);
        }
      }};
}

struct NamedStrategy {
  std::string name;  // of the file, without its folder and .cpp
  StrategyEntry entry;
};

/// Every file of search/strategies/ by name. Defined in a source that CMake generates.
[[nodiscard]] std::vector<NamedStrategy> strategies_by_file();

}  // namespace kiln
