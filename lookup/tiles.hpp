// Tiles: how well a config's tile fits a problem. A config that is best for multiples of its tile
// may do 1.5 times the work for other sizes, or leave compute units idle at the end. Neither needs
// a measurement: the spec's grid gives the number of tiles, and the compiler's report gives the
// number of tiles per unit at a time.
//
// Pure. Private to lookup/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/setting.hpp"
#include "db/close_configs.hpp"
#include "lookup/tile_counter.hpp"

namespace kiln {

/// Returns the rounds of the busiest compute unit. Tiles are dealt evenly to the units, and a unit
/// runs as many at a time as fit. A partial last round counts its share of the blocks to the power
/// of `kPartRound` (half of them: 0.76), since its blocks have the unit to themselves. A tile
/// counts fully, even if little of it lies in the problem. If `needs` has no registers, a unit runs
/// one tile at a time.
[[nodiscard]] double rounds_of_busiest_unit(const Tiles& tiles, const CloseConfig& needs,
                                            const DeviceInfo& device);
inline constexpr double kPartRound = 0.4;

/// Returns the exponent p: times grow with the busiest unit's rounds to the power of p. It is near
/// 1 for arithmetic, where the busiest unit decides, and near 0 for memory, which all units share
/// (docs/lookup.md). Without a cost in the spec it lies between.
[[nodiscard]] double tile_exponent(const ProblemCost& cost);

/// Standard deviation of the logarithm: how much two sessions differ for one config on nearly the
/// same problem.
inline constexpr double kMeasuredNoise = 0.08;
/// The same if one block did all the work on one problem and several share it on the other: the
/// measurement does not include combining their results.
inline constexpr double kOneBlockNoise = 1;

/// How a measurement on another problem is converted to the queried one.
struct Carried {
  double factor = 1;              ///< multiplies the slowdown
  double noise = kMeasuredNoise;  ///< standard deviation of the logarithm of the slowdown
};

/// Converts measurements on other problems and devices to the queried problem.
class CarryOver {
 public:
  /// `configs`: the measured configs, each once; the first `eligible` may be the answer. All
  /// arguments must outlive the object.
  CarryOver(const Setting& asked, std::span<const CloseConfig> configs, std::size_t eligible);

  /// Converts slowdowns measured on another problem to the queried one. `measured` and `there`:
  /// that problem and its device. `configs`: indices into the list. The factor is above 1 if a
  /// config's time should grow by more than usual. Usual is the median of the eligible configs: a
  /// slowdown is relative to the best, and the best grows like the eligible ones. A config without
  /// tiles keeps its slowdown.
  [[nodiscard]] std::vector<Carried> from(const Problem& measured, const DeviceInfo& there,
                                          std::span<const std::size_t> configs) const;

 private:
  struct Here {
    const CloseConfig* needs = nullptr;
    Config config;
    double blocks = 1;  ///< on the queried problem
    double rounds = 0;  ///< likewise
  };
  [[nodiscard]] std::optional<Here> here(const CloseConfig& needs, TileCounter& count) const;
  struct Growth {
    /// Growth of the time from the measured problem to the queried one; none without tiles.
    std::optional<double> log_growth;
    double noise = kMeasuredNoise;
  };
  [[nodiscard]] Growth growth_of(std::size_t config, TileCounter& count,
                                 const DeviceInfo& there) const;

  Setting asked_;
  double exponent_ = 0;
  std::size_t eligible_ = 0;
  std::vector<std::optional<Here>> here_;  ///< per config; none without tiles
};

}  // namespace kiln
