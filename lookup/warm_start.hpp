// Warm start: the configs that a session tries right after the default config, since they did well
// on similar problems and devices.
//
// Pure: works on rows already read. The same rows in any order give the same configs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/setting.hpp"
#include "db/evidence.hpp"
#include "db/records.hpp"

namespace kiln {

/// A config that did well elsewhere, and where.
struct WarmConfig {
  Config config;
  /// "the best of n=2048 on this device", "forecast from 8 nearby problems: 1.05 times the best
  /// time", "close to the best of ..."
  std::string from;
  friend bool operator==(const WarmConfig&, const WarmConfig&) = default;
};

/// Enough to include the few kinds of configs that are best for similar problems; few enough to
/// cost little if none of them is good here.
inline constexpr std::size_t kWarmConfigs = 12;

/// Most of them are the configs with the best forecast from nearby problems.
inline constexpr std::size_t kForecastConfigs = 8;

/// Returns at most `most` different configs that are legal in the setting. First
/// the bests of this very problem, on this device and then on others of its vendor. Then, until
/// there are `kForecastConfigs`, the configs with the best forecast (neighbours.hpp), each unlike
/// those before it. Then, until there are `kWarmConfigs`, the bests in the order of a lookup,
/// followed by those of other devices. Then the close configs (close_configs.hpp) of the nearest
/// problems that are unlike anything faster there, in rounds over the problems, so that neighbours
/// measure the same configs. Then the remaining close configs. `timing`: of the session that
/// starts.
[[nodiscard]] std::vector<WarmConfig> warm_configs(const Setting& setting,
                                                   std::span<const BestRecord> bests,
                                                   std::size_t most = kWarmConfigs,
                                                   Timing timing = Timing::eager);

/// Sets the list `warm_start` of `evidence`: the configs of the warm start that reached the finals,
/// each with its origin, in the order tried. Leaves it alone if there was no warm start.
void add_warm_start(Evidence& evidence, std::span<const WarmConfig> warm);

}  // namespace kiln
