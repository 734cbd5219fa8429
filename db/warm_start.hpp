// Warm start: the configs that a session tries right after the default config, since they were the
// best of problems and devices around.
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
  std::string from;  ///< "the best of n=2048 on this device", "close to the best of ..."
  friend bool operator==(const WarmConfig&, const WarmConfig&) = default;
};

/// Enough to meet the few kinds of configs that are best around a problem, few enough to cost a
/// session little where none of them is good here.
inline constexpr std::size_t kWarmConfigs = 12;

/// At most `most` different configs that are legal for this problem on this device: first the bests
/// of the rows, `kWarmConfigs` of them, in the order in which a lookup asks them (this problem
/// itself, then near ones on this device, then on devices of the architecture, then of the vendor),
/// and after them rows of other devices. Then what came close to the bests (close_configs.hpp) of
/// the nearest problems around and is unlike what is faster there, in rounds over them, so that
/// problems that are near each other measure the same configs; then the rest of what came close.
[[nodiscard]] std::vector<WarmConfig> warm_configs(const KernelSpec& spec, const Problem& problem,
                                                   const DeviceInfo& device,
                                                   std::span<const BestRecord> bests,
                                                   std::size_t most = kWarmConfigs);

/// `evidence` (JSON as in BestRecord) with the configs that a session started from as its key
/// "warm_start", each with its origin, in the order tried; unchanged where there were none.
[[nodiscard]] std::string with_warm_start(const std::string& evidence,
                                          std::span<const WarmConfig> warm);

}  // namespace kiln
