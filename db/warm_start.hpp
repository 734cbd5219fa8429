// Warm start: the configs that a session tries right after the default config, since problems and
// devices around expect much of them.
//
// Pure: works on rows already read. The same rows in any order give the same configs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "db/store.hpp"

namespace kiln {

/// A config that was good elsewhere, and where.
struct WarmConfig {
  Config config;
  /// "the best of n=2048 on this device", "forecast by 8 problems around: 1.05 times the best
  /// time", "close to the best of ..."
  std::string from;
  friend bool operator==(const WarmConfig&, const WarmConfig&) = default;
};

/// Enough to meet the few kinds of configs that are best around a problem, few enough to cost a
/// session little where none of them is good here.
inline constexpr std::size_t kWarmConfigs = 12;

/// Most of them are forecasts: what the problems around together expect the most of.
inline constexpr std::size_t kForecastConfigs = 8;

/// At most `most` different configs that are legal for this problem on this device: first the bests
/// of this very problem, on this device and then on others of its vendor; then, until there are
/// `kForecastConfigs`, what the problems around expect the most of (neighbours.hpp), each unlike
/// those before it; then the bests of the rows, until there are `kWarmConfigs`, in the order in
/// which a lookup asks them (near problems on this device, then on devices of the architecture,
/// then of the vendor), and after them rows of other devices. Then what came close to the bests
/// (close_configs.hpp) of the nearest problems around and is unlike what is faster there, in rounds
/// over them, so that problems that are near each other measure the same configs; then the rest of
/// what came close.
[[nodiscard]] std::vector<WarmConfig> warm_configs(const KernelSpec& spec, const Problem& problem,
                                                   const DeviceInfo& device,
                                                   std::span<const BestRecord> bests,
                                                   std::size_t most = kWarmConfigs);

/// `evidence` (JSON as in BestRecord) with those of the configs that a session started from that
/// came into its finals as its key "warm_start", each with its origin, in the order tried;
/// unchanged where it started from none.
[[nodiscard]] std::string with_warm_start(const std::string& evidence,
                                          std::span<const WarmConfig> warm);

}  // namespace kiln
